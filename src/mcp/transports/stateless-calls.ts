import type { RequestId } from '@modelcontextprotocol/server';
import type { Logger } from '../../observability/logger.ts';
import type { Message, Messages } from '../checks/messages.ts';
import type {
  Conversation,
  Conversations,
  InitializeParams,
  JsonRpcError,
  Opening,
  Sender,
} from '../conversations/conversation.ts';
import { CollectedAnswers, errorAnswer } from './collected-answers.ts';
import { Deadlines } from './deadlines.ts';

/** What single calls are answered with. */
export interface StatelessCallsOptions {
  conversations: Conversations;
  /** Longest wait for the answers to one POST, in milliseconds. */
  timeoutMs: number;
  logger: Logger;
}

/** The messages of one POST that belongs to no session. */
export interface StatelessCall {
  /** No two requests share an id. */
  messages: Messages;
  /** The revision the server is to speak, where the call does not initialize. */
  protocolVersion: string;
  sender: Sender;
  /** Calls back once when nobody waits for the answers any more. */
  onGone(callback: () => void): void;
}

/**
 * Answers the messages of one POST without a session. What the server says beside its answers is dropped, and what it
 * asks the client is answered with an error at once, so that its tool fails clearly (B7-11, B7-14).
 * @returns the answers in the order of the requests; none to a request that the same POST cancels
 * @throws what the making of a server throws
 */
export type AnswerStateless = (call: StatelessCall) => Promise<{ answers: Message[]; timedOut: boolean }>;

const timedOut: JsonRpcError = {
  code: -32001,
  message: 'The MCP server did not answer in time. The call may still have had its effect.',
};
const serverEnded: JsonRpcError = { code: -32603, message: 'The MCP server ended before it answered.' };
const noBackChannel: JsonRpcError = {
  code: -32601,
  message:
    'This client is connected without a session, so the server cannot ask it anything (no sampling, elicitation or roots).',
};

const clientInfo = { name: 'stateless-client', version: '0' };
const initialized: Message = { jsonrpc: '2.0', method: 'notifications/initialized' };

/**
 * Creates the answering of POSTs without sessions: each is a conversation of its own, begun and ended with it. One
 * coarse timer keeps the time limit of all (B7-08, B7-09).
 */
export function createStatelessCalls({
  conversations,
  timeoutMs,
  logger,
}: StatelessCallsOptions): AnswerStateless {
  const deadlines = new Deadlines(timeoutMs);

  const endQuietly = (conversation: Conversation): void => {
    conversation.end().catch((error) => logger.warn({ err: error }, 'an MCP conversation failed to end'));
  };

  return ({ messages, protocolVersion, sender, onGone }) =>
    new Promise((resolve, reject) => {
      if (!messages.list.some(isSaid)) {
        resolve({ answers: [], timedOut: false });
        return;
      }
      const [first] = messages.requests;
      const opens = first?.method === 'initialize' ? first : undefined;
      const answers = new CollectedAnswers(messages.requests);
      let conversation: Conversation | undefined;
      let isOver = false;
      let isLate = false;

      const finish = (): void => {
        if (isOver) return;
        isOver = true;
        forgetDeadline();
        if (conversation) endQuietly(conversation);
        resolve({ answers: answers.list(), timedOut: isLate });
      };
      const fail = (error: JsonRpcError): void => {
        answers.fail(error);
        finish();
      };
      const forgetDeadline = deadlines.set(() => {
        isLate = true;
        fail(timedOut);
      });
      onGone(finish);

      const hear = (message: Message): void => {
        if (message.method === undefined) {
          if (answers.take(message) && answers.isComplete) finish();
        } else if (message.id !== undefined) {
          conversation?.say(errorAnswer(message.id, noBackChannel), sender);
        }
      };
      const talk = (opening: Opening): void => {
        if ('error' in opening) {
          fail(opening.error);
          return;
        }
        if (isOver) {
          endQuietly(opening.conversation);
          return;
        }
        conversation = opening.conversation;
        if (opens) hear({ jsonrpc: '2.0', id: opens.id, result: opening.result } as Message);
        else conversation.say(initialized, sender);
        for (const message of messages.list) {
          if (isOver) return;
          if (message === opens || !isSaid(message)) continue;
          conversation.say(message, sender);
          if (message.method === 'notifications/cancelled')
            answers.drop(message.params?.requestId as RequestId);
        }
        if (answers.isComplete) finish();
      };

      const initialize = (opens?.params as InitializeParams | undefined) ?? {
        protocolVersion,
        capabilities: {},
        clientInfo,
      };
      conversations.open(initialize, sender, { hear, ended: () => fail(serverEnded) }).then(talk, (error) => {
        isOver = true;
        forgetDeadline();
        reject(error);
      });
    });
}

/** Nothing was asked that a response could answer, and the conversation is begun for the client. */
function isSaid({ method }: Message): boolean {
  return method !== undefined && method !== 'notifications/initialized';
}
