import { userInfo } from 'node:os';

/** Names who runs this process, as the machine knows them: what an audit log can say of an operator. */
export function operatingUser(): string {
  try {
    const { username, uid } = userInfo();
    return `${username} (${uid})`;
  } catch {
    // In a container, a user may have no name.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}
