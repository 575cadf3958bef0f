import { expect, it } from 'vitest';
import { cacheSettings, policySettings } from '../../src/settings/policy.ts';

it('what may be used of a backend and what is kept of it have names that are known', () => {
  expect(policySettings.safeParse({ alow: [] }).success).toBe(false);
  expect(cacheSettings.safeParse({ kep: true }).success).toBe(false);
});

it('everything may be used, in time, where nothing is set', () => {
  const all = { allow: ['*'], deny: [] };
  expect(policySettings.parse(undefined)).toEqual({
    tools: all,
    prompts: all,
    resources: all,
    methods: {},
    readOnly: false,
    onToolChange: 'warn',
    checkArguments: false,
    limits: [],
    timeLimitSeconds: 600,
    longestSeconds: 3600,
    breaker: { failures: 5, windowSeconds: 60, openSeconds: 30 },
  });
});

it('answers are kept as long as they say where nothing is set, and lists of older revisions are not', () => {
  expect(cacheSettings.parse(undefined)).toEqual({ keep: true, maxEntries: 1000, maxBytes: 16_777_216 });
  expect(cacheSettings.safeParse({ listSeconds: 0 }).success).toBe(false);
});

it('a limit says what it limits', () => {
  const parsed = policySettings.safeParse({ limits: [{ tools: 'search_*' }, { perMinute: 5 }] });
  expect(parsed.error?.issues).toMatchObject([
    { path: ['limits', 0], message: expect.stringContaining('atOnce') },
  ]);
});
