import { type ClientProfile, publicClientBody, recordedOf, sdkV1Behaviour } from './client-profile.ts';
import { recordedRegistrations } from './recorded-registrations.ts';

const version = '2026-11-22';
const builtOnSdk = {
  says: 'discovery, resource, issuer and PKCE as the TypeScript SDK v1 does them',
  grounds: 'inferred',
  from: 'https://www.npmjs.com/package/@modelcontextprotocol/sdk',
} as const;

/** Claude Code, the command line. */
export const claudeCode: ClientProfile = {
  ...sdkV1Behaviour,
  ...recordedRegistrations['claude-code'],
  name: 'claude-code',
  title: 'Claude Code',
  runsOn: 'machine',
  registration: ['metadata_document', 'dynamic'],
  metadataDocument: { url: 'https://claude.ai/oauth/claude-code-client-metadata', needsNone: false },
  document: {
    ...publicClientBody,
    client_name: 'Claude Code',
    redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/callback'],
  },
  resourceSpellings: ['slash', 'origin'],
  registersAgain: 'by_hand',
  needs: [
    'repeatedRefresh',
    'unaskedRefreshToken',
    'localhostPort',
    'applicationType',
    'resourceSpelling',
    'shortenedResource',
  ],
  facts: [
    builtOnSdk,
    {
      says: 'several processes refresh one login at once; a refresh names no scope',
      grounds: 'report',
      from: 'https://github.com/anthropics/claude-code/issues/84440',
    },
    {
      says: 'resource gains a slash, or collapses to the origin',
      grounds: 'report',
      from: 'https://github.com/anthropics/claude-code/issues/52871',
    },
    {
      says: 'goes on with a client id that is gone until its files are deleted',
      grounds: 'report',
      from: 'https://github.com/anthropics/claude-code/issues/84614',
    },
    {
      says: 'its metadata document lists http://localhost/callback and http://127.0.0.1/callback without ports; logins use a port',
      grounds: 'report',
      from: 'https://github.com/anthropics/claude-code/issues/42301',
    },
    recordedOf('@anthropic-ai/claude-code'),
    {
      says: 'host and path of the redirect URI are fixed, the port is not',
      grounds: 'report',
      from: 'https://github.com/anthropics/claude-code/issues/66511',
    },
  ],
};

/** Connectors of claude.ai, Claude Desktop and the apps: all ask from Anthropic's network. */
export const claudeAi: ClientProfile = {
  ...sdkV1Behaviour,
  name: 'claude-ai',
  title: 'claude.ai connectors',
  version,
  observed: 'unknown',
  runsOn: 'cloud',
  userAgent: 'Claude-User',
  registration: ['dynamic'],
  registrationBody: {
    ...publicClientBody,
    redirect_uris: ['https://claude.ai/api/mcp/auth_callback'],
  },
  redirectUri: 'https://claude.ai/api/mcp/auth_callback',
  asksScopesOf: 'issuer',
  registersAgain: 'each_time',
  facts: [
    builtOnSdk,
    {
      says: 'refreshes from two machines of its own at once',
      grounds: 'report',
      from: 'https://github.com/PrefectHQ/fastmcp/issues/4265',
    },
    {
      says: 'asks for the scopes the authorization server lists, in their order',
      grounds: 'report',
      from: 'https://github.com/anthropics/claude-ai-mcp/issues/228',
    },
    {
      says: 'registers at every connection',
      grounds: 'report',
      from: 'https://github.com/brendanlong/lion-reader/issues/975',
    },
    {
      says: 'callback https://claude.ai/api/mcp/auth_callback, client name Claude; requests come from Anthropic',
      grounds: 'documentation',
      from: 'https://support.claude.com/en/articles/11503834-building-custom-connectors-via-remote-mcp-servers',
    },
    {
      says: 'the port must be 443',
      grounds: 'report',
      from: 'https://github.com/anthropics/claude-ai-mcp/issues/85',
    },
    {
      says: 'bot rules for the user agent Claude-User block it after the login',
      grounds: 'report',
      from: 'https://github.com/anthropics/claude-ai-mcp/issues/438',
    },
    {
      says: 'takes client ID metadata documents too; which one is not known here, so it is tried with dynamic registration',
      grounds: 'documentation',
      from: 'https://claude.com/docs/connectors/building/authentication',
    },
  ],
};
