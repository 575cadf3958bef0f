// An app with the AI SDK: node ai-sdk.mjs <url> <http|sse>
import { auth, createMCPClient } from '@ai-sdk/mcp';
import { createLogin, needsLogin, serveCalls } from './host.mjs';

const [, , url, type] = process.argv;
const { provider, callback } = await createLogin();
let client;

async function logIn() {
  const parameters = await callback();
  await auth(provider, {
    serverUrl: url,
    authorizationCode: parameters.get('code'),
    callbackState: parameters.get('state'),
    callbackIssuer: parameters.get('iss') ?? undefined,
  });
}

async function connect() {
  client = await createMCPClient({ transport: { type, url, authProvider: provider } });
}

async function call(text) {
  if (!client) await connect();
  const tools = await client.tools();
  return tools.add_note.execute({ text }, { toolCallId: '1', messages: [] });
}

serveCalls(async (text) => {
  try {
    return await call(text);
  } catch (error) {
    if (!needsLogin(error)) throw error;
    await logIn();
    await client?.close().catch(() => undefined);
    client = undefined;
    return call(text);
  }
});
