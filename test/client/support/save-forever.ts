import { createTokenFile } from '../../../src/client/node/index.ts';

const [folder = ''] = process.argv.slice(2);
const store = createTokenFile(folder);
const authorizationServer = { issuer: 'https://as.example', token_endpoint: 'https://as.example/token' };
for (let round = 0; ; round++) {
  await store.saveCredential('https://mcp.example', {
    authorizationServer,
    resource: 'https://mcp.example',
    clientId: 'client',
    accessToken: `at-${round}-${'x'.repeat(20_000)}`,
    refreshToken: `rt-${round}`,
  });
  if (round === 0) process.stdout.write('saved');
}
