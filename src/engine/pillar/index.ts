// Pillars: compiled for a master in worker threads, for a masterless minion in its own process.
