import { bringAnswer } from '../flows/clients/support/bridge.ts';
import type { BrowserStub } from '../support/browser-stub.ts';
import { decide } from '../support/person.ts';
import { createVisitor } from '../support/visitor.ts';
import type { Place } from './place.ts';

/** Somebody at the machine of a program: opens each authorization URL that the program opens or prints, logs in and allows. */
export interface Person {
  /** Reads what a program wrote. */
  read(text: string): void;
  /** Returns how many logins reached the program. */
  logins(): number;
  /** Counts a login that somebody else made, in a real browser. */
  countLogin(): void;
  /** Takes the sentences about logins that did not. */
  takeProblems(): string[];
  stop(): void;
}

const scopes = ['notes:read', 'notes:write', 'mcp'];
/** How often the person looks whether a browser was opened, in milliseconds. */
const lookEveryMs = 50;

// Escape sequences of terminals, and the links among them, which carry the URL a second time.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they begin with ESC
const escapes = /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)|\u001b\[[0-9;?]*[a-zA-Z]|\u001b[()][A-Z0-9]/g;

/** Removes the escape sequences of a terminal. */
export function plainText(text: string): string {
  return text.replace(escapes, '');
}

/** Finds the radio button whose label has the name of a server, on the page that asks which server is meant. */
function chooseServer(html: string, serverName: string): [string, string][] {
  return [...html.matchAll(/<label\b[^>]*>([\s\S]*?)<\/label>/g)]
    .filter(([, label = '']) => label.includes('type="radio"') && label.includes(serverName))
    .flatMap(([, label = '']) => {
      const name = /name="([^"]*)"/.exec(label)?.[1];
      const value = /value="([^"]*)"/.exec(label)?.[1];
      return name && value ? [[name, value] as [string, string]] : [];
    });
}

/**
 * Puts a person at a place.
 * @param browser the stand-in for a browser that programs open
 */
export function createPerson(place: Place, browser: BrowserStub): Person {
  const visitor = createVisitor();
  const visited = new Set<string>();
  const problems: string[] = [];
  let logins = 0;
  let unread = '';

  async function follow(url: string): Promise<void> {
    try {
      const callback = await decide(url, {
        visitor,
        scopes,
        chooseServer: (html) => chooseServer(html, place.serverName),
      });
      if (!/^https?:$/.test(callback.protocol)) throw new Error(`the answer goes to ${callback.protocol}`);
      const { status = 0 } = await bringAnswer(callback);
      if (status >= 400) throw new Error(`the program's callback responded with ${status}`);
      logins++;
    } catch (error) {
      const { message } = error as Error;
      const title = /<title>([^<]*)<\/title>/.exec(message)?.[1];
      problems.push(`login failed: ${title === undefined ? message.slice(0, 500) : `the page "${title}"`}`);
    }
  }

  // A browser shows one login at a time.
  let last = Promise.resolve();
  const open = (url: string): void => {
    if (visited.has(url)) return;
    visited.add(url);
    last = last.then(() => follow(url));
  };

  const start = `${place.issuer}/authorize?`;
  const look = setInterval(() => {
    browser
      .latest()
      .then((url) => {
        if (url.startsWith(start)) open(url);
      })
      .catch(() => undefined);
  }, lookEveryMs);
  return {
    read(text) {
      unread += text;
      const plain = plainText(unread);
      let end = 0;
      // A URL before the side of a box goes on in the next line: the browser gets it whole.
      for (const match of plain.matchAll(/https?:\/\/[^\s"'<>\\│]+(?=["'<>\\\n\r]|[ \t](?![ \t]*│))/g)) {
        end = match.index + match[0].length;
        if (match[0].startsWith(start)) open(match[0]);
      }
      unread = plain.slice(end).slice(-10_000);
    },
    logins: () => logins,
    countLogin: () => {
      logins++;
    },
    takeProblems: () => problems.splice(0),
    stop: () => clearInterval(look),
  };
}
