/** Somebody who has an account at a stand-in for an upstream. */
export interface UpstreamPerson {
  sub: string;
  login: string;
  password: string;
  email: string;
  emailVerified: boolean;
  name: string;
  groups: readonly string[];
}

/** Who has an account at every stand-in. */
export const lin: UpstreamPerson = {
  sub: '1001',
  login: 'lin',
  password: 'lin at work',
  email: 'lin@work.example',
  emailVerified: true,
  name: 'Lin Chen',
  groups: ['staff', 'engineering'],
};

/** Another one, in another domain and another group. */
export const omar: UpstreamPerson = {
  sub: '1002',
  login: 'omar',
  password: 'omar elsewhere',
  email: 'omar@else.example',
  emailVerified: true,
  name: 'Omar Diaz',
  groups: ['guests'],
};

/** One who says she is somebody else: her address was never verified. */
export const mallory: UpstreamPerson = {
  sub: '1666',
  login: 'mallory',
  password: 'mallory poses',
  email: 'ada@example.com',
  emailVerified: false,
  name: 'Ada L.',
  groups: ['staff'],
};

const people = [lin, omar, mallory];

/** Finds who logs in with these; undefined where nobody does. */
export function findByLogin(
  login: string | undefined,
  password: string | undefined,
): UpstreamPerson | undefined {
  return people.find((person) => person.login === login && person.password === password);
}

/** Finds somebody by the subject. */
export function findBySubject(sub: string): UpstreamPerson | undefined {
  return people.find((person) => person.sub === sub);
}

/** What a stand-in knows its one client as, unless a test says otherwise. */
export const upstreamClient = {
  clientId: 'gatehouse-at-upstream',
  clientSecret: 'canary-client-secret-0123456789abcdef-0123456789',
} as const;

/** The fields of the login form all stand-ins have; `login` and `password` are their names. */
export const loginFields = `
  <label>Login <input name="login" autocomplete="username"></label>
  <label>Password <input name="password" type="password" autocomplete="current-password"></label>
  <button name="answer" value="allow">Log in</button>`;

/** The answers of the consent form all stand-ins have. */
export const consentFields = `
  <button name="answer" value="allow">Allow</button>
  <button name="answer" value="deny">Deny</button>`;
