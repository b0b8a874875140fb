#!/usr/bin/env bash
# The demo: backfill the shipped sample, look at what was built, ask. Run it with `make demo`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

STORE=.demo/store
rm -rf "$STORE"

say() {
  if [ -t 1 ]; then printf '\n\033[1m%s\033[0m\n' "$*"; else printf '\n%s\n' "$*"; fi
}

run() {
  printf '\n$ mnemosaic'
  for word in "$@"; do
    case "$word" in *[[:space:]?]*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac
  done
  printf '\n'
  mnemosaic "$@"
}

say "1. Three people's chat histories go in: text and pictures, half a year of sessions"
run backfill sample/histories --store "$STORE"

say "2. What was built"
run status --store "$STORE"
run users --store "$STORE"

say "3. What was observed: in words, on a screenshot, on a receipt"
run observations --user mira --round 2025-11-10-log:1 --store "$STORE"
run observations --picture sample/histories/pictures/tomas-2025-11-29-receipt.jpg

say "4. What keeps coming back became tables: questions over all records are computed"
run tables --user mira --store "$STORE"
run compute activity avg sleep --by month --user mira --store "$STORE"
run rank activity steps --top 3 --user mira --store "$STORE"
run compute receipts sum total --by merchant --user tomas --store "$STORE"

say "5. What a history is about, and when things were"
run topics --user mira --store "$STORE"
run timeline --user mira --store "$STORE" --from 2026-01-14 --to 2026-01-31
run locate "when I broke my wrist" --user mira --store "$STORE"

say "6. Ask: computed over all records, or answered from the rounds that a search finds, with citations"
run ask "What was my average sleep after I broke my wrist?" --user mira --store "$STORE" --explain
run ask "How much did I spend at Kaufgut?" --user tomas --store "$STORE"
run ask "Which food can Pixel not eat?" --user mira --store "$STORE"

say "7. Search: which rounds of a user's history are about this?"
run search "which food can Pixel not eat?" --user mira --store "$STORE" --k 3
run search "what was the problem with the clicking bike?" --user tomas --store "$STORE" --k 3
run search "who fixed the dripping ceiling?" --user aiko --store "$STORE" --k 2
run search "肉じゃがの作り方" --user aiko --store "$STORE" --k 1

say "8. One conversation in full"
run show mira 2026-01-14-broken-wrist --store "$STORE"

say "9. The same histories again: nothing is added, no version is published"
run backfill sample/histories --store "$STORE"
