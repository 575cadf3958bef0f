import type { ClientProfile } from './client-profile.ts';

/**
 * The registrations of published programs, with the day of the recording. `scripts/test --clients --record` writes this file
 * from test/clients/recorded.
 */
export const recordedRegistrations = {
  'mcp-remote': {
    version: '2026-11-29',
    observed: '0.15.1',
    registrationBody: {
      redirect_uris: ['http://localhost:53682/oauth/callback'],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      client_uri: 'https://github.com/modelcontextprotocol/mcp-cli',
      software_id: '2e6dc280-f3c3-4e01-99a7-8181dbd1d23d',
      software_version: '0.15.1',
      application_type: 'native',
    },
    redirectUri: 'http://localhost:53682/oauth/callback',
  },
  mcporter: {
    version: '2026-11-29',
    observed: '0.12.3',
    registrationBody: {
      redirect_uris: ['http://127.0.0.1:53682/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    redirectUri: 'http://127.0.0.1:53682/callback',
  },
  codex: {
    version: '2026-11-29',
    observed: '0.171.0',
    registrationBody: {
      redirect_uris: ['http://127.0.0.1:53682/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
      response_types: ['code'],
      application_type: 'native',
    },
    redirectUri: 'http://127.0.0.1:53682/callback',
  },
  'claude-code': {
    version: '2026-11-29',
    observed: '2.1.332',
    registrationBody: {
      redirect_uris: ['http://localhost:53682/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      application_type: 'native',
    },
    redirectUri: 'http://localhost:53682/callback',
  },
  'copilot-cli': {
    version: '2026-11-29',
    observed: '1.0.102',
    registrationBody: {
      redirect_uris: ['http://127.0.0.1:53682/'],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    redirectUri: 'http://127.0.0.1:53682/',
  },
  'gemini-cli': {
    version: '2026-11-29',
    observed: '0.61.0',
    registrationBody: {
      redirect_uris: ['http://localhost:53682/oauth/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    redirectUri: 'http://localhost:53682/oauth/callback',
  },
} as const satisfies Record<
  string,
  Pick<ClientProfile, 'version' | 'observed' | 'registrationBody' | 'redirectUri'>
>;
