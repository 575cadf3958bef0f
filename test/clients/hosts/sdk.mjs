// An app with the TypeScript SDK, v1 or v2: node sdk.mjs <v1|v2> <url> <http|sse>
import { createLogin, needsLogin, serveCalls } from './host.mjs';

const [, , version, url, transportName] = process.argv;

async function loadSdk() {
  if (version === 'v2') return import('@modelcontextprotocol/client');
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
  return transportName === 'sse'
    ? { Client, ...(await import('@modelcontextprotocol/sdk/client/sse.js')) }
    : { Client, ...(await import('@modelcontextprotocol/sdk/client/streamableHttp.js')) };
}

const sdk = await loadSdk();
const { provider, callback } = await createLogin();
let client;

function createTransport() {
  const Transport = transportName === 'sse' ? sdk.SSEClientTransport : sdk.StreamableHTTPClientTransport;
  return new Transport(new URL(url), { authProvider: provider });
}

async function connect() {
  const transport = createTransport();
  const next = new sdk.Client({ name: 'an app', version: '1' });
  try {
    await next.connect(transport);
  } catch (error) {
    if (!needsLogin(error)) throw error;
    const parameters = await callback();
    await transport.finishAuth(version === 'v2' ? parameters : parameters.get('code'));
    return connect();
  }
  client = next;
}

serveCalls(async (text) => {
  if (!client) await connect();
  const call = () => client.callTool({ name: 'add_note', arguments: { text } });
  try {
    return await call();
  } catch (error) {
    if (!needsLogin(error)) throw error;
    const parameters = await callback();
    await client.transport.finishAuth(version === 'v2' ? parameters : parameters.get('code'));
    await client.close();
    await connect();
    return call();
  }
});
