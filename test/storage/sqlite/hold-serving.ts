import { createServingLock } from '../../../src/storage/sqlite/connection/exclusive-lock.ts';

/** Another process that serves an installation: holds the lock of servers until it is killed. Arguments: its file. */
const [file = ''] = process.argv.slice(2);
createServingLock(file).take(false);
process.stdout.write('held\n');
setInterval(() => undefined, 1_000);
