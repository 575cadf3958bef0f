import {
  audio,
  defaultsForm,
  enumerationsForm,
  image,
  userForm,
} from '../../../support/conformance-server/samples.ts';

/** What the server of the features asks its client, as `params` of its requests. */
export interface Question {
  method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  params?: Record<string, unknown>;
}

const weather = {
  name: 'get_weather',
  description: 'Weather of a city',
  inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

const form = (message: string, requestedSchema: object): Question => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema },
});

/** Every kind of question there is, by name. */
export const questions = {
  user: form('Who are you?', userForm),
  formats: form('Where can you be reached?', {
    type: 'object',
    properties: {
      email: { type: 'string', title: 'Address', format: 'email', minLength: 3 },
      site: { type: 'string', format: 'uri' },
      day: { type: 'string', format: 'date' },
      seats: { type: 'integer', minimum: 1, maximum: 9 },
    },
    required: ['email'],
  }),
  defaults: form('Is this right?', defaultsForm),
  enumerations: form('Which of them?', enumerationsForm),
  visit: {
    method: 'elicitation/create',
    params: {
      mode: 'url',
      message: 'Pay there',
      url: 'https://pay.example/order?id=7',
      elicitationId: 'visit-7',
    },
  },
  model: {
    method: 'sampling/createMessage',
    params: {
      messages: [
        { role: 'user', content: { type: 'text', text: 'What is this?' } },
        { role: 'user', content: image },
        { role: 'user', content: audio },
      ],
      modelPreferences: {
        hints: [{ name: 'claude' }],
        costPriority: 0.1,
        speedPriority: 0.2,
        intelligencePriority: 1,
      },
      systemPrompt: 'Be brief.',
      includeContext: 'thisServer',
      temperature: 0.5,
      maxTokens: 77,
      stopSequences: ['END'],
      metadata: { purpose: 'test' },
    },
  },
  'model with tools': {
    method: 'sampling/createMessage',
    params: {
      messages: [
        { role: 'user', content: { type: 'text', text: 'Weather in Paris and Rome?' } },
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'use-1', name: 'get_weather', input: { city: 'Paris' } }],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', toolUseId: 'use-1', content: [{ type: 'text', text: '18 °C' }] }],
        },
      ],
      tools: [weather],
      toolChoice: { mode: 'auto' },
      maxTokens: 50,
    },
  },
  roots: { method: 'roots/list' },
} satisfies Record<string, Question>;

/** Finds questions by the names a call gives. */
export function questionsNamed(names: unknown): [string, Question][] {
  return Object.entries<Question>(questions).filter(([name]) => Array.isArray(names) && names.includes(name));
}
