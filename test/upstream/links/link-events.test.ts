import { expect, it } from 'vitest';
import { createLinkEvents } from '../../../src/upstream/links/link-events.ts';
import { down } from './subject.ts';

function start() {
  const recorded: string[] = [];
  const counted: string[] = [];
  const warnings: string[] = [];
  const events = createLinkEvents({
    record: (event, { upstream }) => void recorded.push(`${event} ${upstream}`),
    count: (event) => void counted.push(event),
    logger: { warn: (_details: object, text: string) => void warnings.push(text) } as never,
  });
  return { events, recorded, counted, warnings };
}

it('an upstream that is down is one row, however many ask meanwhile, and one more when it is back', () => {
  const { events, recorded, warnings } = start();
  for (let times = 0; times < 3; times++) events.unavailable('work', down);
  events.unavailable('play', down);
  events.available('work');
  events.available('work');
  events.unavailable('work', down);
  expect(recorded).toEqual([
    'upstream.unavailable work',
    'upstream.unavailable play',
    'upstream.available work',
    'upstream.unavailable work',
  ]);
  expect(warnings).toHaveLength(3);
});

it('renewed tokens are a number, and show that the upstream answers', () => {
  const { events, recorded, counted } = start();
  events.unavailable('work', down);
  events.refreshed('work');
  expect(counted).toEqual(['upstream.refreshed']);
  expect(recorded).toEqual(['upstream.unavailable work', 'upstream.available work']);
});

it('what has ended is told with whose it was, why, and how much', () => {
  const details: object[] = [];
  const events = createLinkEvents({
    record: (_event, told) => void details.push(told),
    count: () => undefined,
    logger: { warn: () => undefined } as never,
  });
  events.ended({ upstream: 'work', accountId: 'ada' }, 'grant_refused', { grants: 2, logins: 1 });
  expect(details).toEqual([
    { upstream: 'work', accountId: 'ada', reason: 'grant_refused', grants: '2', logins: '1' },
  ]);
});
