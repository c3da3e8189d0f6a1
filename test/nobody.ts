/** Values that find nobody, and that the nodes refuse, as scraped pages, exports and forms hold them. A line for each. */

const lines = (text: string) =>
	text
		.trim()
		.split('\n')
		.map((line) => line.trim());

export const NO_ADDRESSES = lines(`
	logo@2x.png
	image001.png@01D9ABCD.12345670
	j***@acme.com
	***ada@acme.com
	j•••@acme.com
	ada@a***.com
	ada@acme.co…
	ada@acme.co...
	…da@acme.com
	email_not_unlocked@domain.com
	not_unlocked@acme.com
	locked@acme.com
	noemail@acme.com
	email-not-available@acme.com
	not available
	locked
	ada.@acme.com
	.ada@acme.com
	a..b@acme.com
	{first}.{last}@acme.com
	[first].[last]@acme.com
	<first>.<last>@acme.com
	%FIRSTNAME%@acme.com
	user@domain.com
	name@example.com
	undefined.undefined@acme.com
	m?ller@acme.com
	a%20b@acme.com
	#REF!@acme.com
	=A1@acme.com
	ada@www.acme
	info[at]acme.com
	info@acme,com
	a@b.com c@d.com
	a@b.com; c@d.com
`);

export const NO_PROFILES = lines(`
	linkedin.com/company/acme/
	https://www.linkedin.com/school/mit/
	https://www.linkedin.com/showcase/x
	https://www.linkedin.com/feed/update/urn:li:activity:71
	https://www.linkedin.com/posts/ada_x-activity-1
	https://www.linkedin.com/search/results/people/?keywords=ada
	https://www.linkedin.com/jobs/view/1
	https://www.linkedin.com/groups/1/
	https://www.linkedin.com/pub/dir/ada/okafor
	https://www.linkedin.com/sales/company/1
	https://www.linkedin.com/sales/search/people?query=x
	https://de.linkedin.com
	www.linkedin.com/in/
	https://www.linkedin.com/in/me/
	https://www.linkedin.com/in/undefined/
	https://www.linkedin.com/in/[name]
	https://www.linkedin.com/in/ada-ok...
	https://www.linkedin.com/in/ad***
	https://www.linkedin.com/in/ada https://www.linkedin.com/in/bob
	https://www.linkedin.com/in/ada,https://www.linkedin.com/in/bob
	https://www.linkedin.com/authwall?trk=x
	https://www.google.com/url?q=https://www.linkedin.com/in/ada
	https://notlinkedin.com/in/ada
	https://www.xing.com/profile/Ada
	https://acme.com
	lnkd.in/abc
	LinkedIn
	Ada Okafor
`);

export const NO_DOMAINS = lines(`
	Acme
	LinkedIn
	https://www.acme
	logo.png
	index.html
	acme.co...
	acme.co…
	a***.com
	{company}.com
	[company].com
	%COMPANY%.com
	undefined.com
	locked
	not available
	www.localhost
	ada@logo.png
	acme.com beta.com
	#REF!
	(not set)
	outlook.co.uk
	ada@live.fr
	gmx.at
	https://www.instagram.com/acme
	https://youtu.be/x
	https://acme.wordpress.com
	sites.google.com/acme
	https://acme.notion.site/x
	https://www.crunchbase.com/organization/acme
	https://g.page/acme
`);

export const NO_NAMES = lines(`
	LinkedIn Member
	Utilisateur LinkedIn
	LINKEDIN MEMBER
	View Ada Okafor's profile
	Ada OkaforView Ada Okafor’s profile
	Sm***h
	S*****
	J•••
	Ada O…
	Ada O...
	=A1&" "&B1
	#REF!
	#NAME?
	#WERT!
	#N/A
	Ada #REF!
	2024-05-01
	2024-05-01T00:00:00.000Z
	01.05.2024
	5/1/2024
	12:30 PM
	123
	45321
	{first}
	{{firstName}}
	*|FNAME|*
	locked
	Not Available
	n/a
	(not set)
	no name
	Keine Angabe
	https://acme.com/ada
	www.acme.com
`);

export const NO_PLACES = lines(`
	{city}
	=A1
	#REF!, Austria
	Aus***
	Austin…
	Graz &amp; Wien
`);
