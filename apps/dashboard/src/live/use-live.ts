import { useContext } from 'react';
import { LiveContext } from './live-context.js';

/** True while the server tells by itself what has changed; false while pages have to ask. */
export const useLive = (): boolean => useContext(LiveContext);
