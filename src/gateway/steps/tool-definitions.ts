import type { Message } from '../../mcp/checks/messages.ts';
import { accountKeyPrefix } from '../../oauth/auth-info.ts';
import { type Entry, entriesOf, type Listed, lists } from './listed.ts';
import type { Passing } from './step.ts';

/** How long a list counts that was read, in milliseconds: a server need not tell that it changed. */
const lifeMs = 60_000;

/** Most pages of a list that are read. */
const maxPages = 100;

/** Most accounts whose lists are known on one connection. */
const maxAccounts = 1000;

interface Read {
  tools: Promise<ReadonlyMap<string, Entry> | undefined>;
  untilMs: number;
}

const toolList = lists.get('tools/list') as Listed;

/** The tools of a server as it defines them for each account, read when a step needs to know one. */
export class ToolDefinitions {
  readonly #nowMs: () => number;
  readonly #behind = new WeakMap<object, Map<string, Read>>();

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /**
   * Gives a tool as the server lists it for a caller.
   * @returns undefined where it lists no such tool, or gives no list
   */
  async find(name: string, passing: Passing): Promise<Entry | undefined> {
    const { behind, caller } = passing;
    const reads = this.#behind.get(behind) ?? new Map<string, Read>();
    this.#behind.set(behind, reads);
    const account = caller ? accountKeyPrefix(caller) : '';
    const known = reads.get(account);
    if (known && known.untilMs > this.#nowMs()) return (await known.tools)?.get(name);
    const read: Read = { tools: readTools(passing), untilMs: this.#nowMs() + lifeMs };
    reads.delete(account);
    reads.set(account, read);
    const [oldest] = reads.keys();
    if (reads.size > maxAccounts && oldest !== undefined) reads.delete(oldest);
    const tools = await read.tools;
    if (!tools && reads.get(account) === read) reads.delete(account);
    return tools?.get(name);
  }

  /** Forgets the lists of a server that says that they changed. */
  hear({ method }: Message, behind: object): void {
    if (method === 'notifications/tools/list_changed') this.#behind.delete(behind);
  }
}

async function readTools({ ask }: Passing): Promise<ReadonlyMap<string, Entry> | undefined> {
  const tools = new Map<string, Entry>();
  let cursor: unknown;
  for (let page = 0; page < maxPages; page++) {
    const { result } = await ask('tools/list', cursor === undefined ? {} : { cursor });
    const entries = entriesOf(result, toolList);
    if (!entries) return undefined;
    for (const entry of entries) if (typeof entry.name === 'string') tools.set(entry.name, entry);
    cursor = result?.nextCursor;
    if (cursor === undefined) break;
  }
  return tools;
}
