import type { Session } from '../api/shapes.js';
import { useBoot } from './use-boot.js';

/** The session, for pages that are only shown with one. */
export const useSession = (): Session => {
  const session = useBoot().data?.session;
  if (!session) throw new Error('a page that needs a session was shown without one');
  return session;
};
