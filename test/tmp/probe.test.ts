import { useService } from '../service';
import { SpreadsheetTemplate } from '../spreadsheet';
const service = useService();
const template = new SpreadsheetTemplate(service);
test('probe', async () => {
	const result = await template.upload([
		['First Name', 'Last Name', 'Website'],
		['Ada', 'Nobody', 'acme.com'],
	]);
	console.log(JSON.stringify(result, null, 1));
});
