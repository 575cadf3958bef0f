// The suite's MCP server as a program that speaks 2026-07-28 alone over standard input and output.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createConformanceServer } from '../conformance-server/server.ts';

serveStdio(() => createConformanceServer({ era: 'modern' }), { legacy: 'reject' });
