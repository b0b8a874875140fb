"""Sources: files found, sniffed, split and read into sessions of rounds; pictures checked and named by their content."""
