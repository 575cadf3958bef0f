import { expect } from 'vitest';
import { type Feature, inLegacy, inModern } from './support/feature.ts';
import { textOf } from './support/peer.ts';
import { type Question, questions } from './support/questions.ts';

const paramsOf = (name: keyof typeof questions): Record<string, unknown> => {
  const { params = {} }: Question = questions[name];
  const { elicitationId: _ofOlderRevisions, mode: _formByDefault, ...rest } = params;
  return rest;
};
const elicit = 'elicitation/create';
const sample = 'sampling/createMessage';

/** A question, how it is answered, and what the server gets; the answer by default. */
const exchanges: {
  rule: string;
  name: keyof typeof questions;
  answer: object;
  gets?: object;
}[] = [
  {
    rule: 'a form is filled in (C7-03)',
    name: 'user',
    answer: { action: 'accept', content: { username: 'ada', email: 'ada@example.com' } },
  },
  { rule: 'a form is declined (C7-03)', name: 'user', answer: { action: 'decline' } },
  { rule: 'a form is closed (C7-03)', name: 'user', answer: { action: 'cancel' } },
  {
    rule: 'a form has formats and bounds (C7-03)',
    name: 'formats',
    answer: {
      action: 'accept',
      content: { email: 'a@b.example', site: 'https://b.example', day: '2026-07-28', seats: 3 },
    },
  },
  {
    rule: 'a form has defaults of every type, which its client fills in (C7-03)',
    name: 'defaults',
    answer: { action: 'accept', content: { age: 31 } },
    gets: {
      action: 'accept',
      content: { name: 'John Doe', age: 31, score: 95.5, status: 'active', verified: true },
    },
  },
  {
    rule: 'a form has enumerations of every kind (C7-03)',
    name: 'enumerations',
    answer: {
      action: 'accept',
      content: {
        untitledSingle: 'option1',
        titledSingle: 'value2',
        legacyEnum: 'opt3',
        untitledMulti: ['option1', 'option3'],
        titledMulti: [],
      },
    },
  },
  { rule: 'a person is sent to a URL (C7-04)', name: 'visit', answer: { action: 'accept' } },
  {
    rule: 'a model is asked, with preferences, context and bounds (C3-07, C7-02)',
    name: 'model',
    answer: {
      role: 'assistant',
      model: 'm',
      stopReason: 'maxTokens',
      content: { type: 'text', text: 'A pixel.' },
    },
  },
  {
    rule: 'a model is asked, with tools and their results (C7-02)',
    name: 'model with tools',
    answer: {
      role: 'assistant',
      model: 'm',
      stopReason: 'toolUse',
      content: [{ type: 'tool_use', id: 'use-2', name: 'get_weather', input: { city: 'Rome' } }],
    },
  },
  {
    rule: 'roots are listed (C3-07, C7-01)',
    name: 'roots',
    answer: { roots: [{ uri: 'file:///home/ada/project', name: 'Project' }, { uri: 'file:///tmp/a%20b' }] },
  },
];

/** What a server asks of its client while a call runs: as requests, or since 2026-07-28 in rounds. */
export const questionFeatures: readonly Feature[] = [
  ...exchanges.map(
    ({ rule, name, answer, gets = answer }): Feature => ({
      rule,
      async prove({ peer }) {
        const { method } = questions[name];
        peer.person.answers(method, () => answer);
        const result = await peer.call('ask', { questions: [name] });
        expect(JSON.parse(textOf(result))).toEqual({ [name]: gets });
        expect(peer.person.last(method)).toMatchObject(paramsOf(name));
      },
    }),
  ),
  {
    rule: 'a call that needs several answers gets them all (C4-01)',
    async prove({ peer }) {
      const roots = { roots: [{ uri: 'file:///a' }] };
      const message = { role: 'assistant', model: 'm', content: { type: 'text', text: 'yes' } };
      peer.person.answers('roots/list', () => roots);
      peer.person.answers(sample, () => message);
      peer.person.answers(elicit, () => ({ action: 'decline' }));
      const result = await peer.call('ask', { questions: ['user', 'model', 'roots'] });
      expect(JSON.parse(textOf(result))).toEqual({ user: { action: 'decline' }, model: message, roots });
    },
  },
  {
    rule: 'a client that refuses says so to the tool (C7-02)',
    where: inLegacy,
    async prove({ peer }) {
      const refusal = Object.assign(new Error('User rejected sampling request'), { code: -1 });
      peer.person.answers(sample, () => Promise.reject(refusal));
      const outcome = await peer.call('ask', { questions: ['model'] }).catch(String);
      expect(JSON.stringify(outcome)).toContain('User rejected sampling request');
    },
  },
  {
    rule: 'a client is asked nothing it did not say it can be asked (C2-04, C3-05)',
    where: ({ way }) => way.transport !== 'stdio',
    async prove({ way, front }) {
      const peer = await way.connect(front, {});
      for (const name of Object.keys(questions)) {
        const outcome = await peer
          .call('ask', { questions: [name] })
          .catch((error) => ({ isError: true, error }));
        expect(outcome, name).toMatchObject({ isError: true });
      }
      expect([peer.person.asked, peer.complaints]).toEqual([[], []]);
      await peer.close();
    },
  },
  {
    rule: 'a call without the capability it needs is answered with -32021 (C3-05)',
    where: (at) => inModern(at) && at.way.transport !== 'stdio',
    async prove({ way, front }) {
      const peer = await way.connect(front, { roots: {} });
      await expect(peer.call('ask', { questions: ['model'] })).rejects.toMatchObject({
        code: -32021,
        data: { requiredCapabilities: { sampling: {} } },
      });
      await peer.close();
    },
  },
];
