import { expect, test } from 'vitest';
import type { EventStream } from '../../../src/mcp/http/exchange.ts';
import { BufferedEvents } from '../../../src/mcp/legacy/session-streams.ts';

test('what was held goes out once, in its order, without what the listener has already, and what comes later follows', () => {
  const held = new BufferedEvents();
  for (const id of ['s/1', 's/2', 's/3']) held.send(`"${id}"`, id);
  const sent: unknown[] = [];
  const listener = { send: (...event: unknown[]) => void sent.push(event) } as unknown as EventStream;
  held.flush(listener, (id) => id !== 's/1');
  held.flush(listener, () => true);
  held.send('"late"', 's/4');
  expect(sent).toEqual([
    ['"s/2"', 's/2'],
    ['"s/3"', 's/3'],
    ['"late"', 's/4'],
  ]);
  expect(held.isOpen).toBe(true);
  held.end();
  expect(held.isOpen).toBe(false);
});
