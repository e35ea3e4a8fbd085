import { useQueryClient } from '@tanstack/react-query';
import type { Session } from '../api/shapes.js';
import { BOOT, type Boot } from './read-boot.js';
import { tellOtherWindows } from './tell-other-windows.js';

/** Notes that somebody has signed in (a session) or out (null), and forgets what was read for whoever was there before. */
export const useEnter = (): ((session: Session | null) => void) => {
  const queries = useQueryClient();
  return (session) => {
    queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== BOOT[0] });
    queries.setQueryData<Boot>(BOOT, (boot) => ({ signup: boot?.signup ?? 'closed', session }));
    tellOtherWindows();
  };
};
