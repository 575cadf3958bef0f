// The suite's MCP server as a program that speaks over standard input and output.
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { createOlderServer } from './older-server.ts';

await createOlderServer().connect(new StdioServerTransport());
