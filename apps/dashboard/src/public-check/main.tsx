import { startPage } from '../start-page.js';
import { PublicCheckPage } from './public-check-page.js';

startPage(0, () => <PublicCheckPage link={window.location.pathname.split('/')[2] ?? ''} />);
