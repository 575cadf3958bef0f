import { describe, expect, it } from 'vitest';
import { createTolerances, type ToleranceSwitches } from '../../src/authorization-server/tolerances.ts';
import { createLogger } from '../../src/observability/logger.ts';

function watched(switches: ToleranceSwitches = {}) {
  const lines: string[] = [];
  const tolerances = createTolerances(
    switches,
    createLogger('debug', (line) => lines.push(line)),
  );
  return {
    tolerances,
    levels: () => lines.map((line) => (JSON.parse(line) as { level: string }).level),
    lines,
  };
}

const quirk = { tolerance: 'resourceSpelling', because: 'resource https://x/mcp/' } as const;

describe('tolerances', () => {
  it('are on unless switched off', () => {
    const { tolerances } = watched({ missingScope: false, missingResource: true });
    expect(tolerances.isOn('missingScope')).toBe(false);
    expect(tolerances.isOn('missingResource')).toBe(true);
    expect(tolerances.isOn('localhostPort')).toBe(true);
  });

  it('are logged at info once for each client and quirk, at debug from then on', () => {
    const { tolerances, levels, lines } = watched();
    tolerances.note(quirk, 'client_a', 'request-1');
    tolerances.note(quirk, 'client_a');
    tolerances.note(quirk, 'client_b');
    tolerances.note({ ...quirk, tolerance: 'shortenedResource' }, 'client_a');
    expect(levels()).toEqual(['info', 'debug', 'info', 'info']);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      tolerance: 'resourceSpelling',
      clientId: 'client_a',
      because: 'resource https://x/mcp/',
      requestId: 'request-1',
      msg: 'quirk resourceSpelling tolerated',
    });
  });

  it('cut what a client wrote to what a log line can bear (T-195)', () => {
    const { tolerances, lines } = watched();
    tolerances.note({ ...quirk, because: 'x'.repeat(5000) }, 'y'.repeat(5000));
    expect(lines[0]?.length).toBeLessThan(1500);
  });

  it('remember a bounded number of clients', () => {
    const { tolerances, levels } = watched();
    for (let client = 0; client <= 10_000; client++) tolerances.note(quirk, `client_${client}`);
    tolerances.note(quirk, 'client_0');
    expect(levels().at(-1)).toBe('info');
  });

  it('that are decided outside of a request are logged at once, unless they are off', () => {
    const { tolerances, lines } = watched({ trailingSlash: false });
    expect(tolerances.tolerate('trailingSlash', 'asked for /mcp/')).toBe(false);
    expect(lines).toEqual([]);
    expect(tolerances.tolerate('discoveryAliases', 'asked for /x')).toBe(true);
    expect(lines).toHaveLength(1);
  });
});
