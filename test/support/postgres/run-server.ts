import { startPostgres } from './postgres.ts';

/** Runs a server for all files of a test run, and prints its URL; ends with its input. */
const server = await startPostgres();
process.stdout.write(`${server.url}\n`);
process.stdin.resume().once('end', () => void server.close());
