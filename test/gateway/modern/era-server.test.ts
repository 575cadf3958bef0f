import { expect, it } from 'vitest';
import { EraServer } from '../../../src/gateway/modern/era-server.ts';
import type { Eras } from '../../../src/gateway/modern/eras.ts';
import type { Backend } from '../../../src/mcp/protocol.ts';
import { openTalk, startConversations } from '../../mcp/sdk/support/talk.ts';
import { RawServer } from '../steps/support/raw-server.ts';

const modern = {
  begin({ answer }) {
    queueMicrotask(() =>
      answer({ status: 200, result: { capabilities: {}, supportedVersions: ['2026-07-28'] } }),
    );
    return () => undefined;
  },
} as Backend;

it.each<[string, unknown, boolean | undefined, boolean | undefined]>([
  ['refuses it', undefined, undefined, false],
  ['refuses it one, and has let another begin', undefined, true, true],
  ['is not asked, as there are no credentials', { reason: 'credential_missing' }, undefined, undefined],
  ['cannot be told their credentials', { reason: 'credentials_unavailable' }, undefined, undefined],
  ['does not answer', { reason: 'backend_failed' }, undefined, undefined],
])(
  'what all know of a server that %s is not decided by one caller (T-158)',
  async (_what, data, before, after) => {
    const eras = {
      speaksLegacy: before,
      speaksModernAlone: async () => true,
      onOutdated: () => () => undefined,
    };
    const refusing = () => ({ error: { code: -32600, message: 'no', data } });
    const source = () =>
      new EraServer({
        eras: eras as unknown as Eras,
        modern,
        makeLegacy: async () => new RawServer({ initialize: refusing }),
        leftMs: () => Number.POSITIVE_INFINITY,
        authInfo: undefined,
        answered: () => undefined,
      });
    await openTalk(startConversations('principal', source)).catch(() => undefined);
    expect(eras.speaksLegacy).toBe(after);
  },
);
