import { completable } from '@modelcontextprotocol/sdk/server/completable.js';
import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { image } from '../conformance-server/samples.ts';

/** Registers the resources of the suite. */
export function registerResources(server: McpServer): void {
  const texts: Record<string, string> = {
    'test://static-text': 'This is the content of the static text resource.',
    'test://watched-resource': 'Watched resource content',
  };
  for (const [uri, text] of Object.entries(texts)) {
    const about = { description: 'a text', mimeType: 'text/plain' };
    server.registerResource(uri, uri, about, () => ({ contents: [{ uri, mimeType: 'text/plain', text }] }));
  }
  const binary = 'test://static-binary';
  server.registerResource(binary, binary, { description: 'an image', mimeType: 'image/png' }, () => ({
    contents: [{ uri: binary, mimeType: 'image/png', blob: image.data }],
  }));
  server.registerResource(
    'template',
    new ResourceTemplate('test://template/{id}/data', { list: undefined }),
    { description: 'data by id', mimeType: 'application/json' },
    (uri, { id }) => ({
      contents: [
        {
          uri: uri.href,
          mimeType: 'application/json',
          text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
        },
      ],
    }),
  );
}

/** Registers the prompts of the suite. */
export function registerPrompts(server: McpServer): void {
  const user = <C>(content: C) => ({ role: 'user' as const, content });
  const say = (text: string) => user({ type: 'text' as const, text });
  server.registerPrompt('test_simple_prompt', { description: 'a text' }, () => ({
    messages: [say('This is a simple prompt for testing.')],
  }));
  const argument = completable(z.string(), (value) =>
    ['paris', 'park', 'party'].filter((one) => one.startsWith(value)),
  );
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'two arguments', argsSchema: { arg1: argument, arg2: z.string() } },
    ({ arg1, arg2 }) => ({ messages: [say(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'embeds a resource', argsSchema: { resourceUri: z.string() } },
    ({ resourceUri: uri }) => {
      const resource = { uri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' };
      return {
        messages: [
          user({ type: 'resource' as const, resource }),
          say('Please process the embedded resource above.'),
        ],
      };
    },
  );
  server.registerPrompt('test_prompt_with_image', { description: 'embeds an image' }, () => ({
    messages: [user(image), say('Please analyze the image above.')],
  }));
}
