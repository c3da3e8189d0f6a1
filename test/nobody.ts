/** Values that find nobody, and that the nodes refuse, as scraped pages, exports and forms hold them. A line for each. */

const lines = (text: string) =>
	text
		.trim()
		.split('\n')
		.map((line) => line.trim());

export const NO_ADDRESSES = lines(`
	logo@2x.png
	icon@3x.webp
	sprite@1.5x.svg
	bootstrap@5.3.0/dist/css/bootstrap.min.css
	react@18.2.0.js
	a@style.css
	j***@acme.com
	***ada@acme.com
	j•••@acme.com
	jxxxx@acme.com
	XXXX@acme.com
	j###@acme.com
	ada@a***.com
	j***
	ada@acme.co…
	ada@acme.co...
	…da@acme.com
	a...@acme.com
	email_not_unlocked@domain.com
	not_unlocked@acme.com
	locked@acme.com
	email-not-available@acme.com
	noemail@acme.com
	not.available@acme.com
	locked
	not available
	ada.@acme.com
	.ada@acme.com
	a..b@acme.com
	info@acme.comPhone
	info@acme.deTelefon
	info@acme.co.ukPhone
	info@acme.comphone
	info@acme.COMphone
	info@acme.comwww.acme.com
	{first}.{last}@acme.com
	{{firstName}}@acme.com
	[first]@acme.com
	[first].[last]@acme.com
	<first>.<last>@acme.com
	%FIRSTNAME%@acme.com
	%first_name%.%last_name%@acme.com
	first.last@acme.com
	firstname.lastname@acme.com
	vorname.nachname@acme.com
	your.name@acme.com
	{1}ada@acme.com
	{ada@acme.com
	ada}@acme.com
	m?ller@acme.com
	a%20b@acme.com
	info%2Bnews@acme.com
	mailtoinfo@acme.com
	undefined.undefined@acme.com
	null_null@acme.com
	ada@www.acme
	(first)@acme.com
	«first»@acme.com
	ada@acme.pdf
	*ada@acme.com
	#REF!@acme.com
	=A1@acme.com
	*|FIRST|*@acme.com
	n/a@acme.com
	-@acme.com
	_@acme.com
	user@domain.com
	name@example.com
	your.email@yourcompany.com
	your@email.com
	605a7baede844d278b89dc95ae0a9123@sentry.wixpress.com
	image001.png@01D9ABCD.12345670
	info[at]acme.com
	info@acme,com
`);

export const NO_PROFILES = lines(`
	https://www.linkedin.com/company/acme
	linkedin.com/company/acme/
	https://www.linkedin.com/school/mit/
	https://www.linkedin.com/feed/
	https://www.linkedin.com/feed/update/urn:li:activity:71
	https://www.linkedin.com/search/results/people/?keywords=ada
	https://www.linkedin.com/search/results/people/headless?x=1
	https://www.linkedin.com/jobs/view/1
	https://www.linkedin.com/posts/ada_x-activity-1
	https://www.linkedin.com/groups/1/
	https://www.linkedin.com/pulse/x
	https://www.linkedin.com/showcase/x
	https://www.linkedin.com/
	linkedin.com
	https://de.linkedin.com
	www.linkedin.com/in/
	https://www.linkedin.com/in/me/
	https://www.linkedin.com/in/unavailable/
	https://www.linkedin.com/login
	https://www.linkedin.com/authwall?trk=x
	https://www.linkedin.com/dir/ada
	https://www.linkedin.com/pub/dir/ada/okafor
	https://www.linkedin.com/sales/company/1
	https://www.linkedin.com/sales/search/people?query=x
	https://www.linkedin.com/mynetwork/
	https://www.linkedin.com/messaging/thread/1
	https://www.google.com/search?q=ada+okafor+linkedin
	https://www.google.com/search?q=site:linkedin.com/in+ada
	https://www.google.de/url?q=https://acme.com
	https://bing.com/search?q=x
	https://duckduckgo.com/?q=ada
	https://lnkd.in/abc
	lnkd.in/abc
	https://bit.ly/x
	t.co/x
	https://www.linkedin.com/in/ada-ok…
	https://www.linkedin.com/in/ada-ok...
	https://www.linkedin.com/in/ad***
	https://www.linkedin.com/in/{name}
	https://www.linkedin.com/in/[name]
	https://www.linkedin.com/in/<name>
	https://www.linkedin.com/in/%7Bname%7D
	https://facebook.com
	x.com
	https://web.de/
	ada@linkedin.com
	LinkedIn
	Profile
	https://www.linkedin.com/in/username
	https://www.linkedin.com/in/undefined/
	https://www.linkedin.com/in/ada https://www.linkedin.com/in/bob
	https://www.google.com/url?q=https://www.linkedin.com/in/ada&u=https://www.linkedin.com/in/bob
	www.acme
	https://www.linkedin.com/help/linkedin/answer/1
	https://www.linkedin.com/events/1
	https://www.linkedin.com/learning/x
	https://www.linkedin.com/newsletters/x
	https://www.linkedin.com/in/ada,https://www.linkedin.com/in/bob
	https://www.linkedin.com/in/-
	https://www.linkedin.com/in/#
	https://www.linkedin.com/slink?code=x
	linkedin://profile/ada
`);

export const NO_DOMAINS = lines(`
	www.acme
	https://www.acme
	www.acme/
	logo.png
	style.css
	acme.jpg
	index.html
	acme.comPhone
	https://www.acme.comContact
	acme.comphone
	acme.co...
	acme.co…
	a***.com
	•••.com
	{domain}
	{company}.com
	[company].com
	%COMPANY%.com
	locked
	not available
	www.localhost
	ada@logo.png
	acme.comwww.acme.com
	(not set)
	=A1
	#REF!
	acme…
	LinkedIn
	Company Domain
`);

export const NO_NAMES = lines(`
	LinkedIn Member
	Utilisateur LinkedIn
	LinkedIn-Mitglied
	Miembro de LinkedIn
	Usuário do LinkedIn
	Utente LinkedIn
	LinkedIn-lid
	LinkedInメンバー
	Linkedin member
	LINKEDIN MEMBER
	Facebook User
	Deleted User
	Private Member
	Sm***h
	S*****
	J•••
	•••
	Smxxxxh
	xxxx
	XXX
	A███
	Ada O…
	Ada O...
	First Name
	first_name
	FirstName
	Last Name
	Surname
	Vorname
	Nachname
	Vor- und Nachname
	Prénom
	Nom
	Nom de famille
	Nombre
	Apellido
	Apellidos
	Nome
	Cognome
	Voornaam
	Achternaam
	Имя
	Фамилия
	名前
	氏名
	이름
	Full Name
	Name
	NAME
	Name:
	First Name Last Name
	Email
	Job Title
	Contact Name
	Loading...
	Loading…
	Loading
	Please wait
	Wird geladen ...
	=A1
	=A1&" "&B1
	=CONCAT(A1,B1)
	+A1+B1
	@ada
	#REF!
	#NAME?
	#VALUE!
	#N/A
	Ada #REF!
	Err:502
	2024-05-01
	2024-05-01T00:00:00.000Z
	01.05.2024
	5/1/2024
	1-May
	Mar-24
	May 5, 2024
	12. März 2024
	Monday, May 5
	Wed Jan 01 2025 00:00:00 GMT+0100
	12:30 PM
	123
	1.2E+10
	45321
	View Ada Okafor's profile
	View Ada Okafor’s profile
	Voir le profil de Ada
	Profil von Ada anzeigen
	Ver perfil de Ada
	Visualizza il profilo di Ada
	Ada OkaforView Ada Okafor’s profile
	Ada is online
	Status is offline
	2nd degree connection
	{first}
	{{firstName}}
	[name]
	[first name] [last name]
	<name>
	%FIRSTNAME%
	locked
	Not Available
	n/a
	(not set)
	[email protected]
	email protected
	https://acme.com/ada
	www.acme.com
	["Ada"]
	{"first":"Ada"}
	no name
	Keine Angabe
	Unbekannt
	Inconnu
	redacted
	$name
	*|FNAME|*
	logo.png
`);

export const NO_PLACES = lines(`
	{city}
	[city]
	%CITY%
	=A1
	Loading...
	Aus***
	Location
	Job Title
	Industry
	2024-05-01
	01.05.2024
	Austin…
	<city>
	image.jpg
`);
