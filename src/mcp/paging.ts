import { createHmac, timingSafeEqual } from 'node:crypto';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Seal } from './protocol.ts';

/** A list that is given in pages. */
export interface PagedList<Item> {
  /** Name of the list, such as `resources/list`: a cursor of one list is not valid for another. */
  name: string;
  items: readonly Item[];
  /** Returns the key of an item: no other item of the list has it, and pages go in the order of keys. */
  keyOf(item: NoInfer<Item>): string;
}

/** Position of the requested page. */
export interface PageRequest {
  /** `params.cursor` of the request; absent or empty for the first page. */
  cursor?: string | undefined;
  /** Maximum number of items in a page. */
  pageSize: number;
  /** Owner of the list, if owners have different lists: a cursor is valid for its own owner only. */
  scope?: string | undefined;
}

/** A page, as the result of a list request holds it. */
export interface Page<Item> {
  items: Item[];
  /** Cursor of the next page; absent on the last one. */
  nextCursor?: string;
}

/** Returns a list in pages. */
export interface Paging {
  /**
   * Returns a page. Whatever is added or removed between two pages, no item is given twice and none that stays is left
   * out.
   * @throws ProtocolError with -32602 for a cursor that was not given out for this list and scope (C6-06)
   * @throws RangeError for a page size below 1, or two items of one key
   */
  page<Item>(list: PagedList<Item>, request: PageRequest): Page<Item>;
}

/** The key of the last item given, as JSON, and what proves that it was written here; both base64url. */
const cursorForm = /^([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]{43}$/;

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A list in the order of its keys. */
function inOrder<Item>({ name, items, keyOf }: PagedList<Item>): { key: string; item: Item }[] {
  const sorted = items.map((item) => ({ key: keyOf(item), item })).sort((a, b) => compare(a.key, b.key));
  const twice = sorted.find(({ key }, at) => key === sorted[at + 1]?.key);
  if (twice) throw new RangeError(`Two items of ${name} have the key ${JSON.stringify(twice.key)}.`);
  return sorted;
}

/** Writes cursors, and reads those it wrote. */
export interface Cursors {
  /**
   * Returns the cursor of a position.
   * @param name of the list
   * @param scope owner of the list
   */
  write(position: string, name: string, scope: string | undefined): string;
  /** @throws ProtocolError with -32602 for a cursor that was not given out for this list and scope (C6-06) */
  read(cursor: string, name: string, scope: string | undefined): string;
}

/**
 * Creates cursors. A cursor is its position with an HMAC-SHA-256: everybody can read it, and only a holder of the key
 * can create it.
 * @param options `key`: secret of 32 bytes or more; cursors are valid as long as the key stays the same
 * @throws RangeError for a shorter key; TypeError for a key that is not bytes
 */
export function createCursors({ key }: { key: Uint8Array }): Cursors {
  if (!(key instanceof Uint8Array))
    throw new TypeError('The key of cursors has to be bytes, such as randomBytes(32) of node:crypto gives.');
  if (key.byteLength < 32) throw new RangeError('The key of cursors has to have 32 bytes or more.');
  const secret = Uint8Array.from(key);

  const write: Cursors['write'] = (last, name, scope) => {
    const position = Buffer.from(JSON.stringify(last)).toString('base64url');
    const signed = JSON.stringify(['page', name, scope ?? null, last]);
    return `${position}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
  };
  return {
    write,
    read(cursor, name, scope) {
      const [, position] = cursorForm.exec(cursor) ?? [];
      try {
        const last: unknown = JSON.parse(Buffer.from(position ?? '', 'base64url').toString());
        if (typeof last === 'string' && isSame(write(last, name, scope), cursor)) return last;
      } catch {
        // What is no JSON was not written here either.
      }
      throw invalidCursor();
    },
  };
}

/**
 * Creates cursors that are sealed by the keys of the installation: they are valid on each of its nodes, and after a restart.
 * @param owner of the lists, such as a route
 */
export function createSealedCursors(seal: Seal, owner: string): Cursors {
  const contextOf = (name: string, scope: string | undefined): string =>
    JSON.stringify(['joined cursor', owner, name, scope ?? null]);
  return {
    write: (position, name, scope) => seal.seal(position, contextOf(name, scope)),
    read(cursor, name, scope) {
      const position = seal.open(cursor, contextOf(name, scope));
      if (position === undefined) throw invalidCursor();
      return position;
    },
  };
}

function invalidCursor(): ProtocolError {
  return new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'The cursor is not valid for this list. Ask for the first page without one.',
  );
}

/**
 * Creates paging for the lists of an MCP server. A cursor names the last item of its page.
 * @param options `key`: see {@link createCursors}
 * @throws RangeError for a shorter key; TypeError for one that is no bytes
 * @see MCP 2026-07-28 "Pagination"
 */
export function createPaging({ key }: { key: Uint8Array }): Paging {
  const cursors = createCursors({ key });

  return {
    page(list, { cursor, pageSize, scope }) {
      if (!Number.isSafeInteger(pageSize) || pageSize < 1)
        throw new RangeError('A page has to have room for one item or more.');
      const after = cursor ? cursors.read(cursor, list.name, scope) : undefined;
      const sorted = inOrder(list);
      const rest = after === undefined ? sorted : sorted.filter((entry) => entry.key > after);
      const entries = rest.slice(0, pageSize);
      const last = entries.at(-1);
      const items = entries.map(({ item }) => item);
      return last && rest.length > pageSize
        ? { items, nextCursor: cursors.write(last.key, list.name, scope) }
        : { items };
    },
  };
}
