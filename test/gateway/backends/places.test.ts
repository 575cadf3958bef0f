import { describe, expect, it } from 'vitest';
import { type Occupant, Places } from '../../../src/gateway/backends/places.ts';

function occupant(
  account: string,
  idleSinceMs?: number,
  isListenedTo = false,
): Occupant & { gaveWay: boolean } {
  return {
    account,
    idleSinceMs,
    isListenedTo,
    gaveWay: false,
    giveWay() {
      this.gaveWay = true;
    },
  };
}

describe('the places of a backend', () => {
  it('are as many for an account, and for all, as allowed; who gets none is told why (T-158)', () => {
    const places = new Places('Notes', { total: 3, perAccount: 2 }, () => 0);
    expect([places.take(occupant('ada')), places.take(occupant('ada'))]).toEqual([undefined, undefined]);
    expect(places.take(occupant('ada'))).toMatchObject({
      code: -32000,
      message: expect.stringMatching(/^All 2 processes of your account for the MCP server Notes are busy/),
    });
    expect(places.take(occupant('grace'))).toBeUndefined();
    expect(places.take(occupant('joan'))?.message).toMatch(/^All 3 processes for the MCP server Notes/);
    expect(places.taken).toBe(3);
  });

  it('are spoken of in the singular where there is one', () => {
    const places = new Places('Notes', { total: 5, perAccount: 1 }, () => 0);
    places.take(occupant('ada'));
    expect(places.take(occupant('ada'))?.message).toBe(
      'The one process of your account for the MCP server Notes is busy. Try again when its call has ended.',
    );
  });

  it('are given back by the longest idle process of the same account first', () => {
    const places = new Places('Notes', { total: 9, perAccount: 3 }, () => 10);
    const [busy, later, longest] = [occupant('ada'), occupant('ada', 5), occupant('ada', 2)];
    for (const one of [busy, later, longest]) places.take(one);
    expect(places.take(occupant('ada'))).toBeUndefined();
    expect([busy.gaveWay, later.gaveWay, longest.gaveWay]).toEqual([false, false, true]);
  });

  it('of others are taken only where nobody has used the process for a minute', () => {
    let nowMs = 59_999;
    const places = new Places('Notes', { total: 1, perAccount: 1 }, () => nowMs);
    const resting = occupant('ada', 0);
    places.take(resting);
    expect(places.take(occupant('grace'))).toBeDefined();
    nowMs = 60_000;
    expect(places.take(occupant('grace'))).toBeUndefined();
    expect(resting.gaveWay).toBe(true);
    expect(places.taken).toBe(1);
  });

  it('are free again when a process leaves', () => {
    const places = new Places('Notes', { total: 1, perAccount: 1 }, () => 0);
    const first = occupant('ada');
    places.take(first);
    places.leave(first);
    expect(places.take(occupant('grace'))).toBeUndefined();
  });

  it('are given back by all processes nobody has used for long, and nobody listens to', () => {
    const places = new Places('Notes', { total: 9, perAccount: 9 }, () => 100);
    const all = [occupant('ada', 0), occupant('ada', 41), occupant('ada'), occupant('ada', 0, true)];
    for (const one of all) places.take(one);
    places.endIdle(60);
    expect(all.map(({ gaveWay }) => gaveWay)).toEqual([true, false, false, false]);
    expect(places.taken).toBe(3);
  });
});
