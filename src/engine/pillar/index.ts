// Pillars: compiled for a master in worker threads, for a lone minion in its own process.
