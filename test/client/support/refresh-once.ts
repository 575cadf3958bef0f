import { freshCredential } from '../../../src/client/index.ts';
import { createTokenFile } from '../../../src/client/node/index.ts';

const [folder = '', server = ''] = process.argv.slice(2);
const context = { fetch: globalThis.fetch, now: () => Math.floor(Date.now() / 1000) };
const credential = await freshCredential(context, createTokenFile(folder), server);
process.stdout.write(credential?.accessToken ?? 'none');
