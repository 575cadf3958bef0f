// An app with the LangChain adapters: node langchain.mjs <url> <http|sse>
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { auth } from '@modelcontextprotocol/sdk/client/auth.js';
import { createLogin, needsLogin, serveCalls } from './host.mjs';

const [, , url, transport] = process.argv;
const { provider, callback } = await createLogin();
let client;

async function call(text) {
  client ??= new MultiServerMCPClient({
    throwOnLoadError: true,
    mcpServers: { notes: { url, transport, authProvider: provider, automaticSSEFallback: false } },
  });
  const tools = await client.getTools();
  const tool = tools.find(({ name }) => name.endsWith('add_note'));
  return tool.invoke({ text });
}

serveCalls(async (text) => {
  try {
    return await call(text);
  } catch (error) {
    if (!needsLogin(error)) throw error;
    const parameters = await callback();
    await auth(provider, { serverUrl: url, authorizationCode: parameters.get('code') });
    await client?.close().catch(() => undefined);
    client = undefined;
    return call(text);
  }
});
