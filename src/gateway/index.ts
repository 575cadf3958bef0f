export { createStdioBackend, type StdioBackend, type StdioBackendOptions } from './backends/stdio.ts';
