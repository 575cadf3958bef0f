import type { AccessWatch } from '../resource-server/index.ts';
import type { Standing } from '../upstream/bond/standing.ts';

/**
 * Has the link to an upstream looked after while a stream of somebody is open who came through it: the upstream's no ends
 * the stream also where nobody calls (T-091).
 */
export function holdWhileWatched(access: AccessWatch, standing: Pick<Standing, 'hold'>): AccessWatch {
  return {
    ...access,
    watch(authInfo, onEnd, renewal) {
      if (authInfo.upstreamLinkId === undefined) return access.watch(authInfo, onEnd, renewal);
      const letGo = standing.hold(authInfo.upstreamLinkId);
      const end = (): void => {
        letGo();
        onEnd();
      };
      const stop = access.watch(authInfo, end, renewal);
      return () => {
        letGo();
        stop();
      };
    },
  };
}
