import { connectServer, createMemoryStore, withAuthorization } from '../../../src/client/index.ts';
import { login } from '../../../src/client/node/index.ts';

/** Logs a person in and calls a tool. `open` shows them the page: `openBrowser`, or a line that they click. */
export async function whoAmI(url: string, open: (authorizationUrl: string) => void): Promise<unknown> {
  const context = { fetch, now: () => Math.floor(Date.now() / 1000) };
  const store = createMemoryStore();
  await login(context, url, { store }, { open });

  const connection = await connectServer({
    url,
    fetch: withAuthorization(context, url, store),
    clientInfo: { name: 'my-program', version: '1.0.0' },
  });
  try {
    return await connection.client.callTool({ name: 'whoami' });
  } finally {
    await connection.close();
  }
}
