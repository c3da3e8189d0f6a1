/**
 * Names of people in many languages, with a bar between the first and the last name that are sent. Two forms:
 * `Marine|Le Pen` is given as `Marine Le Pen`, and `DUPONT Jean = Jean|DUPONT` as what is before the equals sign.
 */

const TEXT: Record<string, string> = {
	French: `
		Marine|Le Pen; Jean-Pierre|Martin; Jean Paul|Belmondo; Charles|de Gaulle; Anne|d'Ornano; Jean|Le Gall
		Marie|de la Tour; Cécile|Du Bois; Bernard|des Essarts; Jean-Luc|L’Hôpital; Chloé|Saint Martin
		DUPONT Jean = Jean|DUPONT; Jean DUPONT = Jean|DUPONT; LE GALL Anne-Marie = Anne-Marie|LE GALL
		Anne Sophie DE LA FORÊT = Anne Sophie|DE LA FORÊT; J-P Petit = J-P|Petit; Me Jean Dupont = Jean|Dupont
		Mme. Claire Morel = Claire|Morel; M. Paul Roux = M. Paul|Roux; Maître Léa Blanc = Léa|Blanc
		Pr. Luc Noël = Luc|Noël; Paul Petit, Directeur commercial = Paul|Petit; Jean Dupont, Avocat = Jean|Dupont`,
	German: `
		Ursula|von der Leyen; Karl Theodor|Freiherr von und zu Guttenberg; Max|zu Eltz; Anna-Lena|Groß
		Hans-Peter|Müller-Lüdenscheidt; Heinrich|vom Stein; Anton|Graf von Arco; Jörg|Strauß
		Herrn Max Huber = Max|Huber; Frau Dr. Eva Lang = Eva|Lang; KommR Josef Wolf = Josef|Wolf
		RA Anna Braun = Anna|Braun; StB Uwe Klein = Uwe|Klein; DI Karin Moser = Karin|Moser; MMag. Ida Fuchs = Ida|Fuchs
		Prof. Dr. h.c. mult. Otto Wild = Otto|Wild; Dr.-Ing. Kai Voss = Kai|Voss; Dipl.-Kfm. Jan Roth = Jan|Roth
		Mag.a Lena Berger = Lena|Berger; Dr.in Petra Wolf = Petra|Wolf; Dr. med. dent. Ina Beck = Ina|Beck
		Dr.Max Huber = Max|Huber; Dipl.-Ing. Leo Graf = Leo|Graf; Jan Weber, Geschäftsführer = Jan|Weber
		Ute Koch, Vertriebsleiterin = Ute|Koch; Hans Maier jun. = Hans|Maier; Tim Kraus, B.Sc. = Tim|Kraus
		Ingo Lenz, M.Eng. = Ingo|Lenz; Dr. rer. pol. Ralf Jung LL.M. = Ralf|Jung; von der Heide, Jan = Jan|von der Heide
		Herr Müller = |Müller; HUBER Franz = Franz|HUBER; Prof.Dr.Uwe Beck = Uwe|Beck; Ing. Mag. Eva Kern, MSc = Eva|Kern`,
	Dutch: `
		Jan|van 't Hoff; Erik|ten Hag; Jan|van der Berg; Gerard|'t Hooft; Sophie|in 't Veld; Willem|op den Camp
		Kees|van den Heuvel; Piet|De Vries; Anna|te Riele; Wim|uit den Bogaard; Els|Van Damme; Bas|ter Haar
		Dhr. J. de Vries = J.|de Vries; Mevr. A. Jansen = A.|Jansen; Mw. Els Bakker = Els|Bakker
		drs. Jan Smit = Jan|Smit; ir. Piet Visser = Piet|Visser; Mr. dr. Kees Mulder = Kees|Mulder
		prof. dr. ir. Anna de Boer = Anna|de Boer; Jan Peeters, Zaakvoerder & Eigenaar = Jan|Peeters
		van der Meer, Tom = Tom|van der Meer; van Dijk Sofie = Sofie|van Dijk; Van den Broeck, Lies = Lies|Van den Broeck`,
	Spanish: `
		Gabriel|García; María José|Pérez; Gabriel|García Márquez; José Luis|Rodríguez Zapatero; Inés|Muñoz Ruiz; Ana|de la Cruz; José|Ortega y Gasset; Luis|de los Santos; Rosa|del Río
		Santiago|Ramón y Cajal; Ma. Teresa|López; Eduardo|San Juan; Maria del Carmen|García; Íñigo|Núñez
		RUIZ VEGA Juan Carlos = Juan Carlos|RUIZ VEGA; García Márquez, G. = G.|García Márquez
		García Márquez, Gabriel = Gabriel|García Márquez; Dra. Ana Ruiz = Ana|Ruiz; Arq. Luis Soto = Luis|Soto
		Mtra. Elena Paz = Elena|Paz; Lic. Jorge Vega = Jorge|Vega; Ing. Pablo Mora = Pablo|Mora; Sr. Raúl Gil = Raúl|Gil
		Ana Sofía LÓPEZ VEGA = Ana Sofía|LÓPEZ VEGA; Dña. Pilar Ríos = Pilar|Ríos; Srta. Eva Sanz = Eva|Sanz
		Excmo. Sr. Iván Díaz = Iván|Díaz; Carlos Mora, Gerente General = Carlos|Mora; DE LA CRUZ Maria = Maria|DE LA CRUZ`,
	Portuguese: `
		Luiz Inácio|da Silva; João|dos Santos; Ana|de Souza; Maria|e Silva; Pedro|do Carmo; Inês|das Neves
		Maria da Conceição|Costa; João|da Silva Santos; João|Silva Filho; Rui|Costa Neto
		Exmo. Sr. João Alves = João|Alves; Dra. Rita Melo = Rita|Melo; Eng. Tiago Dias = Tiago|Dias
		Prof.ª Ana Lima = Ana|Lima; SOUZA Marcos = Marcos|SOUZA; Duarte, Rita = Rita|Duarte`,
	Italian: `
		Leonardo|Di Caprio; Maria|De Luca; Paolo|Lo Presti; Anna|Della Valle; Luca|D'Angelo; Gianni|dal Ponte; Pier Paolo|Rossi
		Avv. Marco Rossi = Marco|Rossi; Arch. Sara Bruni = Sara|Bruni; Geom. Ugo Riva = Ugo|Riva
		Rag. Ivo Neri = Ivo|Neri; Dott.ssa Lia Conti = Lia|Conti; Sig.ra Ada Gallo = Ada|Gallo; Ing. Elio Serra = Elio|Serra
		Prof.ssa Eva Monti = Eva|Monti; ROSSI Mario = Mario|ROSSI; Mario Rossi, Responsabile vendite = Mario|Rossi`,
	English: `
		Ada|Okafor; Jane|O'Neil; Mary Ann|Smith-Jones; Jill|St. John; Ian|Mac Gregor; Conan|O’Brien; Rosa|Le Roux
		Ronald|McDonald; Van|Morrison; J. Edgar|Hoover; J. R. R.|Tolkien; Wm.|Blake; St. John|Philby; Robt.|Burns
		Jane Doe, P.Eng. = Jane|Doe; Jane Doe, PharmD = Jane|Doe; Jane Doe, EdD = Jane|Doe; Jane Doe, Realtor = Jane|Doe
		Jane Doe, Software Engineer = Jane|Doe; Jane Doe PhD = Jane|Doe; Jane Doe, M.D. = Jane|Doe; Jane Doe MD = Jane|Doe
		Jane Doe, CISSP, PMP® = Jane|Doe; "Ada Okafor" = Ada|Okafor; 'Ada Okafor' = Ada|Okafor; Jane Doe MSc = Jane|Doe
		Robert 'Bob' Hope = Robert|Hope; Robert “Bob” Hope = Robert|Hope; Jane Doe @ Acme = Jane|Doe; Jane Doe · 2nd = Jane|Doe
		John F. Kennedy = John|Kennedy; Samuel L Jackson = Samuel|Jackson; George R.R. Martin = George|Martin
		Sammy Davis Jr. = Sammy|Davis; John Smith III = John|Smith; Jane Doe, Esq. = Jane|Doe; Rev. Paul King = Paul|King
		Capt. Amy Hill = Amy|Hill; Doe, Jane, MBA = Jane|Doe; Smith, John F. = John|Smith; Smith, J.D. = J.D.|Smith; Jane Smith, J.D. = Jane|Smith; Jane Doe - CEO at Acme = Jane|Doe
		J.Smith = J.|Smith; MARY ANN JONES = MARY ANN|JONES; McDONALD Ian = Ian|McDONALD; Jane Doe / CEO = Jane|Doe
		Jane Doe, Head of Sales & Marketing = Jane|Doe; Jane Doe, Attorney at Law = Jane|Doe; Dr. Jane Doe, DVM = Jane|Doe
		Jane Doe née Smith = Jane|Doe; Jane Doe (she/her) = Jane|Doe; Jane Doe, Class of 2010 = Jane|Doe; Mr Smith = |Smith`,
	Irish: `
		Seán|Ó Riordáin; Sinéad|Ní Chonaill; Mary|O Brien; Úna|Nic Gabhann; Pádraig|Mac Giolla; Ciarán|Ó hEigeartaigh
		Aoife|O'Shea; Dara|Ó Briain; Máire|Uí Laoire; Ó Briain, Dara = Dara|Ó Briain`,
	Welsh: 'Ieuan|ap Dafydd; Siân|Lloyd-Jones',
	Polish: `
		Łukasz|Żak; Anna Maria|Wójcik-Nowak; mgr inż. Jan Kowalski = Jan|Kowalski; dr hab. Ewa Nowak = Ewa|Nowak
		inż. Adam Lis = Adam|Lis; Prof. dr hab. n. med. Piotr Duda = Piotr|Duda; KOWALSKI Jan = Jan|KOWALSKI
		Jan Kowalski, Prezes = Jan|Kowalski; lek. Olga Kos = Olga|Kos`,
	Czech: `
		Jiří|Dvořák; Hana|Nováková; Mgr. Petr Malý = Petr|Malý; JUDr. Eva Nová = Eva|Nová; MUDr. Ivan Král = Ivan|Král
		doc. Ing. Jan Novák, CSc. = Jan|Novák; Ing. arch. Lea Veselá = Lea|Veselá; Bc. Tom Černý = Tom|Černý
		PhDr. Jan Malý, Ph.D. = Jan|Malý; Jan Novák ml. = Jan|Novák; Jana Nová, DiS. = Jana|Nová; Ing. Jan Kos, jednatel = Jan|Kos`,
	Slovak: 'Ľubica|Šťastná; RNDr. Ján Hudák, DrSc. = Ján|Hudák; Mgr. et Mgr. Eva Biela = Eva|Biela',
	Hungarian: 'Győző|Kovács; Zs.|Nagy; Dr. Szabó Anna = Szabó|Anna',
	Romanian: 'Ștefan|Țurcanu; Ana-Maria|Popescu; POPESCU Ion = Ion|POPESCU',
	Croatian: 'Željka|Šarić; Ivan|Horvat; dipl. ing. Ana Babić = Ana|Babić',
	Turkish: `
		İbrahim|Çelik; Ayşe Gül|Öztürk; Şükrü|Yılmaz; Mehmet YILMAZ = Mehmet|YILMAZ; Doç. Dr. Ali Kaya = Ali|Kaya; Av. Elif Ak = Elif|Ak; Ö. Faruk|Işık`,
	Greek:
		'Γιώργος|Παπαδόπουλος; Nikos|Papadopoulos; ΠΑΠΑΔΟΠΟΥΛΟΣ Γιώργος = Γιώργος|ΠΑΠΑΔΟΠΟΥΛΟΣ; Δρ. Άννα Νίκου = Άννα|Νίκου',
	Russian: `
		Дмитрий|Иванов; Иван Петрович|Сидоров; Yu.|Gagarin; ИВАНОВ Иван = Иван|ИВАНОВ; Анна|Щербакова; Иванов, Пётр = Пётр|Иванов`,
	Ukrainian: 'Володимир|Зеленський; Їжак|Ольга; Oleksandr|Shevchenko',
	Swedish: 'Carl|af Ugglas; Åsa|Öberg; Magnus|von Platen; Lars-Erik|Sjöström; Åke|Ö',
	Danish: 'Søren|Kierkegaard; Lars|von Trier; Mads|Bjerre-Petersen; Ane Sofie|Juul',
	Norwegian: 'Øystein|Ås; Kari|Nordmann; Siv|af Geijerstam',
	Finnish: 'Päivi|Mäkelä; Jukka-Pekka|Hämäläinen',
	Icelandic: 'Þórunn|Jónsdóttir; Ólafur|Ragnar',
	Lithuanian: 'Kęstutis|Žukauskas; Rūta|Meilutytė',
	Catalan: 'Josep|Puig i Cadafalch; Núria|Gal·la; Antoni|Gaudí',
	Arabic: `
		Ali|Ben Salah; Youssef|El Amrani; Mohamed|Al-Fayed; Ahmed|Al Maktoum; Gamal|Abdel Nasser; Mohammed|bin Salman
		Mohamed|Abd el Rahman; Fatima|bint Saeed; Khalid|Ibn Walid; Cheikh|Ould Ahmed; Lahcen|Ait Ali; Samir|Abou Zeid
		محمد|صلاح; EL AMRANI Youssef = Youssef|EL AMRANI; Sarah|Ben Ammar; Omar|al-Bashir; Ahmed|el-Sisi`,
	Hebrew: 'David|Ben Gurion; Yossi|Bar Lev; שלומית|כהן; Ehud|Ben-David',
	Persian: 'Shirin|Ebadi; Mohammad Reza|Shajarian; رضا|کیانیان',
	Hindi: `
		K. R.|Narayanan; VVS|Laxman; KVR|Reddy; Priya|Sharma; N. A.|Palkhivala; K.A.|Abbas; A. P. J.|Abdul Kalam; Shaik|Md
		M.S.|Dhoni; Shri Ravi Kumar = Ravi|Kumar; Smt. Lata Rao = Lata|Rao; Er. Amit Jain = Amit|Jain; CA Rohit Shah = Rohit|Shah
		Adv. Neha Iyer = Neha|Iyer; प्रिया|शर्मा; Dr. B. R. Ambedkar = B. R.|Ambedkar; MS|Dhoni; Rajesh|K; PVN|Rao`,
	Bengali: 'Md.|Rahman; Md.|Abdul Karim; Mst. Fatema|Begum; Sk. Anwar|Hossain; রহমান|আলী',
	Urdu: 'Muhammad Ali|Jinnah; Benazir|Bhutto; Syed Ahmed|Khan; Moh. Yusuf|Ansari',
	Malay:
		'Ahmad|bin Abdullah; Siti|binti Yusof; Muthu|a/l Raman; Datuk Ali Hassan = Ali|Hassan; Encik Ali Hassan = Ali|Hassan',
	Indonesian:
		'Sri|Mulyani; Joko|Widodo; Ir. Budi Santoso = Budi|Santoso; Drs. Agus Salim = Agus|Salim; Hj. Siti Aminah = Siti|Aminah',
	Filipino:
		'Juan|Dela Cruz; Ma. Luisa|Santos; Jose|de los Reyes; Atty. Leni Cruz = Leni|Cruz; Engr. Ben Tan = Ben|Tan',
	Chinese:
		'Wanzhou|Meng; Xiaoming|Wang; Yo Yo|Ma; Chan|Hon; Wei Ling|Ng; Jian|Sen; 王|小明; WANG Xiaoming = Xiaoming|WANG',
	Japanese:
		'Haruki|Murakami; Yuki|Ono; 山田|太郎; Jun|Ito; Kaname|Harada; TANAKA Kenji = Kenji|TANAKA',
	Korean: 'Min-jun|Kim; Hong Jin|Na; Ji-woo|Park; 김|민준; PARK Ji-sung = Ji-sung|PARK',
	Vietnamese: 'Nguyễn Văn|An; Trần Thị|Ánh; Minh|Lê; Thuy|Do; NGUYEN Van An = Van An|NGUYEN',
	Thai: 'Somchai|Jaidee; ธนกร|วงศ์',
	African:
		'Chinua|Achebe; Ngũgĩ|wa Thiong’o; Ama|Ata; Thabo|van der Merwe; Kwame|Nkrumah; Nelson|Mandela; Amina|N’Diaye',
	Hawaiian: 'Keali’i|Reichel; ʻIolani|Luahine',
	Armenian: 'Ծովինար|Հակոբյան; Aram|Khachaturian',
	Georgian: 'გიორგი|მაისურაძე; Nino|Burjanadze',
	Particles: `
		Oliver|St. John; Rhys|ap Gwilym; Sean|O Sullivan; Fiona|Mc Carthy; Sarah Jane|Ellison-Grant; Harpreet Singh|Sandhu
		Montserrat|Puig i Ferrer; Willem|in 't Veld; Joost|v.d. Linden; Joost|vd Linden; Luc|Van Den Bossche
		Hubert|de la Tour d'Auvergne; Abd El-Rahman|Farouk; Nour El Houda|Benali; Björn Þór|Guðmundsson
		Jose Rizal|delos Reyes; Kim Mai-Lynn|Deal; Álvaro|de la Rosa Fuentes; Antoine|De Saint-Rémy
		Beatriz|Almeida e Costa; Els|Vanden Berghe; Sara|Bin Ahmed; María de los Ángeles|Prieto; María de Jesús|Salas
		Pedro Vaz|de Camões; Thomas|à Kempis; RAJ|Kumar; SAM|Whitaker`,
	'Titles, capitals and notes': `
		Rt Hon. Edmund Carew MP = Edmund|Carew; The Hon. Patrice Lyle = Patrice|Lyle
		Shri Balwant Rao Deshmukh = Balwant Rao|Deshmukh; Tan Sri Lim Kok Wing = Lim Kok|Wing
		Datuk Seri Azmi Rahman = Azmi|Rahman; Dato' Azman Hashim = Azman|Hashim; Sr. D. Rafael Ibáñez = Rafael|Ibáñez
		Sra. Da. Lucía Peña = Lucía|Peña; Eng.º Rui Tavares = Rui|Tavares; Dr.ª Inês Barreto = Inês|Barreto
		Mr. drs. P.J. de Graaf = P.J.|de Graaf; ir. K. van der Zee MSc = K.|van der Zee
		Mevr. S. Visser-de Boer = S.|Visser-de Boer
		Prof. Dr.-Ing. habil. Uwe Kranz = Uwe|Kranz; Dr. rer. nat. Holger Beck = Holger|Beck
		lic. iur. Regula Frei = Regula|Frei; Mlle Odile Garnier = Odile|Garnier
		Sig.ra Anna Degli Esposti = Anna|Degli Esposti; Gr. Uff. Ettore Mancini = Ettore|Mancini
		Op. Dr. Selin Aydın = Selin|Aydın; Sayın Mehmet Öztürk = Mehmet|Öztürk; Uzm. Dr. Ebru Kılıç = Ebru|Kılıç
		Barr. Ngozi Eze = Ngozi|Eze; Kwame Boateng Jnr = Kwame|Boateng; DI (FH) Markus Gruber = Markus|Gruber
		Ms. Q. Adams = Q.|Adams; Hr. Lars Toft = Lars|Toft; Prof. Gareth Llewellyn FRS = Gareth|Llewellyn
		Kim Deal MSc MRICS = Kim|Deal; Kim Deal BSc (Hons) = Kim|Deal; KIM Min-jun = Min-jun|KIM
		VAN DEN BOSSCHE Luc = Luc|VAN DEN BOSSCHE; GARCÍA LÓPEZ Ana = Ana|GARCÍA LÓPEZ
		William 'Bill' Trask Jr. = William|Trask; Barbara Nowicka - HR Manager = Barbara|Nowicka
		Alicia Monroe she/her = Alicia|Monroe; Kyle Brandt ✅ Hiring = Kyle|Brandt; Capt. Susan Orr (Ret.) = Susan|Orr
		Kim Deal geb. Sutter = Kim|Deal; Kim Deal [Open to work] = Kim|Deal; Jean Valjean / Acme = Jean|Valjean; Kim Deal. = Kim|Deal; Kim Deal → CEO = Kim|Deal; Puan Sri Siti Aminah = Siti|Aminah; Lorenzo|de' Medici`,
	Commas: `
		Todd Baskin, CFP® = Todd|Baskin; Lorraine Petty RN, BSN = Lorraine|Petty; Alicia Monroe, Plumber = Alicia|Monroe
		Alicia Monroe, Retired = Alicia|Monroe; Alicia Monroe, Chicago = Alicia|Monroe; Emma Stone, New York = Emma|Stone
		Emma Stone, Nashville, TN = Emma|Stone; Alicia Monroe, Founder & CEO = Alicia|Monroe
		Emma Stone, Acme Inc. = Emma|Stone; Emma Stone, Customer Success = Emma|Stone
		Emma Stone, Certified Public Accountant = Emma|Stone; Washington, Cornell, Jr. = Cornell|Washington
		Smith, M.D. = |Smith; Ir. Bambang Wijaya, M.T. = Bambang|Wijaya; Dewi Sartika, S.E., M.M. = Dewi|Sartika
		Ortega y Gasset, José = José|Ortega y Gasset; PÉREZ GÓMEZ, Juan Carlos = Juan Carlos|PÉREZ GÓMEZ
		Ferreira Lopes, Tiago = Tiago|Ferreira Lopes; Berg, Jan van den = Jan|van den Berg; DE SMET, Luc = Luc|DE SMET
		De Vries, Maaike = Maaike|De Vries; Reuter, Dr. Thomas = Thomas|Reuter; Deal Jr., Kim = Kim|Deal
		Deal, Kim (Contractor) = Kim|Deal; Kim Deal, PhD, PE, LEED AP = Kim|Deal; Valjean, Jean, PhD = Jean|Valjean
		Ben Whishaw, Actor = Ben|Whishaw; Santos, Liza Mae B. = Liza Mae|Santos; Wang, Bei = Bei|Wang
		Aydın, Nursel = Nursel|Aydın`,
	Surnames:
		'Anna|Hidden; Tom|Locked; Jennifer|Null; Ada|None-Smith; Marc|Head; Eva|Lead; Karl|Meister; Otto|Leiter; Dana|Private-Jones',
};

/** A text that a person enters, and the two names that are sent for it. */
export const PEOPLE = Object.entries(TEXT).flatMap(([language, text]) =>
	text
		.trim()
		.split(/;\s+|\n\s*/)
		.map((entry) => {
			const [given = '', names = given] = entry.split(' = ');
			const [firstName = '', lastName = ''] = names.split('|');
			return { language, given: given.replace('|', ' '), firstName, lastName };
		}),
);
