import { freshCredential } from '../../../../src/client/index.ts';
import { createTokenFile } from '../../../../src/client/node/index.ts';

/** What a racer is told: the time, epoch seconds, and the access token that the MCP server has just refused. */
export interface Round {
  now: number;
  rejected?: string;
}

/** What a racer answers: its access token, or why it has none. */
export type Finish = { accessToken: string | undefined } | { failure: string };

const [folder = '', server = ''] = process.argv.slice(2);
const store = createTokenFile(folder);
process.on('message', ({ now, rejected }: Round) => {
  freshCredential({ fetch: globalThis.fetch, now: () => now }, store, server, rejected).then(
    (credential) => process.send?.({ accessToken: credential?.accessToken } satisfies Finish),
    (error: unknown) => process.send?.({ failure: String(error) } satisfies Finish),
  );
});
process.send?.('ready');
