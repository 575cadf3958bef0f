// The server of asking-server.ts as a program. Its first argument is what it speaks: "both" eras, or "modern" alone.
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createAskingServer } from './asking-server.ts';

const [, , speaks = 'both'] = process.argv;
const isModernOnly = speaks === 'modern';
serveStdio(() => createAskingServer({ isModernOnly }), { legacy: isModernOnly ? 'reject' : 'serve' });
