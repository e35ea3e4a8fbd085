import { type QueryClient, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { type Access, roleAllows } from '@vat/domain/roles';
import type { ReactNode } from 'react';
import { useApi } from '../api/create-api.js';
import type { Session } from '../api/shapes.js';

/** The data every page needs first: the session, and what the operator has set. */
export type Boot = {
  signup: 'open' | 'closed';
  public_verification: boolean;
  key_rate_limit: number;
  session: Session | null;
};

/** Query key of the boot data. */
export const BOOT = ['boot'] as const;

/** The broadcast channel on which windows of one browser announce sign-in and sign-out. */
export const SESSION_CHANNEL = 'vat-session';

/** Makes the other windows of this browser read their session again. */
export const notifyOtherWindows = (): void => {
  const channel = new BroadcastChannel(SESSION_CHANNEL);
  channel.postMessage('changed');
  channel.close();
};

const removeCachedData = (queries: QueryClient): void =>
  queries.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== BOOT[0] });

/** Identifies the user of a session: an e-mail address can move to another account. */
export const userOf = ({ account }: Session): string => `${account.account_id} ${account.email}`;

/** The boot data: fetched once, then updated by sign-in and sign-out, also in other windows. */
export const useBoot = (): UseQueryResult<Boot> => {
  const api = useApi();
  const queries = useQueryClient();
  return useQuery({
    queryKey: BOOT,
    queryFn: async () => {
      const boot = await api.call<Boot>('GET', '/config');
      const before = queries.getQueryData<Boot>(BOOT);
      // Another user may have signed in in another window.
      if (before && boot.session && (!before.session || userOf(before.session) !== userOf(boot.session)))
        removeCachedData(queries);
      return boot;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
};

/** Sets the session after sign-in, or null after sign-out. Removes the cached data of the previous session. */
export const useSetSession = (): ((session: Session | null) => void) => {
  const queries = useQueryClient();
  return (session) => {
    removeCachedData(queries);
    queries.setQueryData<Boot>(BOOT, (boot) => boot && { ...boot, session });
    notifyOtherWindows();
  };
};

/** The session, on pages that require one. */
export const useSession = (): Session => {
  const session = useBoot().data?.session;
  if (!session) throw new Error('useSession is used without a session');
  return session;
};

/** Whether the user's role allows such calls. The service decides the same for each call. */
export const useMay = (access: Access): boolean => roleAllows(useSession().account.role, access);

/** Controls that change something. Auditors do not see them. */
export const Changing = ({ children }: { children: ReactNode }): ReactNode => (useMay('change') ? children : null);
