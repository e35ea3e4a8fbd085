import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useApi } from '../api/use-api.js';
import { BOOT, type Boot, readBoot } from './read-boot.js';

/** Who is signed in; asked once and then changed by signing in and out. */
export const useBoot = (): UseQueryResult<Boot> => {
  const api = useApi();
  return useQuery({ queryKey: BOOT, queryFn: () => readBoot(api), staleTime: Number.POSITIVE_INFINITY });
};
