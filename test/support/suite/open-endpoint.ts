import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Koa from 'koa';
import { allowKnownOrigins } from '../../../src/app/cors.ts';
import { guardHost } from '../../../src/app/host-guard.ts';
import { createSealedBox, createTextSeal } from '../../../src/crypto/sealed-box.ts';
import { createMcpEndpoint } from '../../../src/mcp/index.ts';
import type { AuthInfo } from '../../../src/oauth/auth-info.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import { type ProtectedServer, readOwnServer } from '../../../src/protected-server.ts';
import { openDataFolder } from '../../../src/storage/sqlite/index.ts';

/** An MCP endpoint without a gate. */
export interface OpenEndpoint {
  url: string;
  /** The same server over Rest. */
  restUrl: string;
  stop(): Promise<void>;
}

/**
 * Serves an MCP server through Gatehouse's endpoint, behind its checks of Host and Origin, and lets everybody in: all
 * callers count as one.
 */
export async function serveOpen(protectedServer: ProtectedServer): Promise<OpenEndpoint> {
  const http = createServer();
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const origin = `http://localhost:${(http.address() as AddressInfo).port}`;
  const url = new URL('/mcp', origin);
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-open-'));
  const { storage, keys } = await openDataFolder(folder);
  const { source, scopeRules } = readOwnServer(protectedServer, origin);
  const endpoint = createMcpEndpoint({
    source,
    scopeRules,
    urls: {
      mcp: url,
      sse: new URL('/sse', origin),
      messages: new URL('/messages', origin),
      rest: new URL('/rest', origin),
    },
    maxBodyBytes: 4 * 1024 * 1024,
    sessions: 'stored',
    sessionLimits: {
      maxPerPrincipal: 100,
      maxTotal: 1000,
      idleSeconds: 1800,
      eventSeconds: 600,
      maxEvents: 1000,
      maxBytes: 4 * 1024 * 1024,
    },
    principalLimits: { maxCallsPerPrincipal: 100, maxStreamsPerPrincipal: 100 },
    store: storage.mcpSessions,
    access: { watch: () => () => undefined },
    seal: createTextSeal(createSealedBox(keys.sealing)),
    now: () => Math.floor(Date.now() / 1000),
    logger: createLogger('silent'),
  });

  const everybody: AuthInfo = {
    issuer: origin,
    subject: 'everybody',
    clientId: 'everybody',
    scopes: Object.keys(protectedServer.scopes ?? {}),
    audience: url.href,
    expiresAt: Number.MAX_SAFE_INTEGER,
  };
  const guard = { publicUrl: origin, allowedOrigins: [], direct: true };
  const app = new Koa();
  app.silent = true;
  app.use(guardHost(guard));
  app.use(allowKnownOrigins(guard, ['GET', 'POST', 'DELETE']));
  app.use((ctx, next) => {
    ctx.state.authInfo = everybody;
    return next();
  });
  app.use((ctx, next) => (ctx.path === '/rest' ? endpoint.rest(ctx, next) : endpoint.middleware(ctx, next)));
  http.on('request', app.callback());
  return {
    url: url.href,
    restUrl: new URL('/rest', origin).href,
    async stop() {
      await endpoint.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await storage.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
