import {
  closeSync,
  constants,
  cpSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';

/** What a program did to a file, in its order. */
export type DiskEvent =
  | { type: 'write'; file: string; at: number; bytes: Buffer }
  | { type: 'truncate'; file: string; length: number }
  | { type: 'sync'; file: string }
  /** A line of the list of acknowledgements. */
  | { type: 'acknowledged'; what: string };

const decode = (text: string): Buffer => Buffer.from(text.replaceAll('\\x', ''), 'hex');
const nameOf = (hexPath: string): string => basename(decode(hexPath).toString());

const patterns: readonly { pattern: RegExp; read: (match: string[]) => DiskEvent | undefined }[] = [
  {
    pattern: /pwrite64\(\d+<([^>]*)>, "([^"]*)", \d+, (\d+)\) = \d+$/,
    read: ([, file = '', bytes = '', at]) => ({
      type: 'write',
      file: nameOf(file),
      at: Number(at),
      bytes: decode(bytes),
    }),
  },
  {
    pattern: /ftruncate\(\d+<([^>]*)>, (\d+)\) = 0$/,
    read: ([, file = '', length]) => ({ type: 'truncate', file: nameOf(file), length: Number(length) }),
  },
  {
    pattern: /f(?:data)?sync\(\d+<([^>]*)>\) = 0$/,
    read: ([, file = '']) => ({ type: 'sync', file: nameOf(file) }),
  },
  {
    pattern: /write\(\d+<([^>]*)>, "([^"]*)", \d+\) = \d+$/,
    read: ([, file = '', bytes = '']) =>
      nameOf(file) === 'acknowledged'
        ? { type: 'acknowledged', what: decode(bytes).toString().trim() }
        : undefined,
  },
];

/** The system calls a trace has to hold. */
export const tracedCalls = 'pwrite64,write,ftruncate,fsync,fdatasync';

/**
 * Reads what `strace -f -y -xx` wrote.
 * @throws Error at a call on one of the files that it does not understand
 */
export function readDiskTrace(file: string): DiskEvent[] {
  const events: DiskEvent[] = [];
  for (const line of readFileSync(file, 'latin1').split('\n')) {
    if (line === '' || / (?:\+\+\+|---) /.test(line)) continue;
    const known = patterns.find(({ pattern }) => pattern.test(line));
    if (!known) throw new Error(`a call nobody understands: ${line.slice(0, 200)}`);
    const event = known.read(known.pattern.exec(line) as unknown as string[]);
    if (event) events.push(event);
  }
  return events;
}

/** A change that may or may not have reached the disk when the power goes. */
type Change = Exclude<DiskEvent, { type: 'sync' | 'acknowledged' }>;

/** A disk that keeps for certain what was made durable, and of everything else as much as it likes. */
export class LossyDisk {
  readonly #folder: string;
  #pending: Change[] = [];

  /** @param folder holds what is durable */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Carries out an event. */
  apply(event: DiskEvent): void {
    if (event.type === 'write' || event.type === 'truncate') this.#pending.push(event);
    if (event.type === 'sync') this.settle((change) => change.file === event.file);
  }

  /** Makes pending changes durable. */
  settle(which: (change: Change) => boolean = () => true): void {
    for (const change of this.#pending) if (which(change)) carryOut(this.#folder, change);
    this.#pending = this.#pending.filter((change) => !which(change));
  }

  /**
   * Leaves in a folder what is on the disk after the power went.
   * @param keeps says of each change that was not durable how much of it, from 0 to 1, had reached the disk
   */
  losePower(folder: string, keeps: () => number): void {
    rmSync(folder, { recursive: true, force: true });
    cpSync(this.#folder, folder, { recursive: true });
    for (const change of this.#pending) {
      const kept = keeps();
      if (change.type === 'truncate' && kept < 1) continue;
      if (change.type === 'truncate') carryOut(folder, change);
      else {
        const whole = Math.floor((change.bytes.length * kept) / sectorBytes) * sectorBytes;
        carryOut(folder, { ...change, bytes: change.bytes.subarray(0, whole) });
      }
    }
  }
}

/** What a disk writes whole or not at all. */
const sectorBytes = 512;

function carryOut(folder: string, change: Change): void {
  const descriptor = openSync(join(folder, change.file), constants.O_RDWR | constants.O_CREAT);
  try {
    if (change.type === 'truncate') ftruncateSync(descriptor, change.length);
    else writeSync(descriptor, change.bytes, 0, change.bytes.length, change.at);
  } finally {
    closeSync(descriptor);
  }
}
