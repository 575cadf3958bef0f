// Loaded before a peer that is a command, so that its garbage is collected when ours is.
process.on('SIGUSR2', () => globalThis.gc?.());
