import { useContext } from 'react';
import { ApiContext } from './api-context.js';
import type { Api } from './create-api.js';

/** The API inside a page. */
export const useApi = (): Api => {
  const api = useContext(ApiContext);
  if (!api) throw new Error('a page stands outside the API context');
  return api;
};
