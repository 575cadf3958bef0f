// An app with Mastra, which registers nowhere itself: node mastra.mjs <url> <client id>
import { createServer } from 'node:http';
import { MCPClient, MCPOAuthClientProvider } from '@mastra/mcp';
import { needsLogin, serveCalls } from './host.mjs';

const [, , url, clientId] = process.argv;

/** Finds a free port for the library, which wants to listen itself. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const redirectUrl = `http://127.0.0.1:${await freePort()}/callback`;
const provider = new MCPOAuthClientProvider({
  redirectUrl,
  clientInformation: { client_id: clientId },
  clientMetadata: { client_name: 'An app with Mastra', redirect_uris: [redirectUrl] },
  onRedirectToAuthorization: (authorization) => {
    console.log(`Open ${authorization.href} in a browser.`);
  },
});
const client = new MCPClient({ servers: { notes: { url: new URL(url), authProvider: provider } } });

async function call(text) {
  const { toolsets, errors } = await client.listToolsetsWithErrors();
  const tool = Object.entries(toolsets.notes ?? {}).find(([name]) => name.endsWith('add_note'))?.[1];
  if (!tool) throw new Error(`no tool: ${JSON.stringify(errors)} ${client.getServerAuthState('notes')}`);
  return tool.execute({ text });
}

serveCalls(async (text) => {
  try {
    return await call(text);
  } catch (error) {
    if (client.getServerAuthState('notes') !== 'needs-auth' && !needsLogin(error)) throw error;
    await client.authenticate('notes', { timeoutMs: 30_000 });
    return call(text);
  }
});
