/**
 * Names of people in many languages, with a bar between the first and the last name that are sent. Two forms:
 * `Marine|Le Pen` is given as `Marine Le Pen`, and `DUPONT Jean = Jean|DUPONT` as what is before the equals sign.
 */

const TEXT = String.raw`
	Jean-Luc|L’Hôpital; Anne Sophie DE LA FORÊT = Anne Sophie|DE LA FORÊT; Me Jean Dupont = Jean|Dupont
	Karl Theodor|Freiherr von und zu Guttenberg; Anton|Graf von Arco; Frau Dr. Eva Lang = Eva|Lang
	RA Anna Braun = Anna|Braun; DI Karin Moser = Karin|Moser; Prof. Dr. h.c. mult. Otto Wild = Otto|Wild
	Dr. rer. pol. Ralf Jung LL.M. = Ralf|Jung; von der Heide, Jan = Jan|von der Heide; Herr Müller = |Müller
	van Dijk Sofie = Sofie|van Dijk; Gabriel|García; Inés|Muñoz Ruiz; José|Ortega y Gasset; Maria del Carmen|García
	García Márquez, G. = G.|García Márquez; Ana Sofía LÓPEZ VEGA = Ana Sofía|LÓPEZ VEGA; Maria da Conceição|Costa
	ROSSI Mario = Mario|ROSSI; Jill|St. John; Ronald|McDonald; Van|Morrison; J. R. R.|Tolkien; St. John|Philby
	'Ada Okafor' = Ada|Okafor; Robert 'Bob' Hope = Robert|Hope; Robert “Bob” Hope = Robert|Hope
	Jane Doe @ Acme = Jane|Doe; Jane Doe · 2nd = Jane|Doe; Samuel L Jackson = Samuel|Jackson
	George R.R. Martin = George|Martin; Jane Doe - CEO at Acme = Jane|Doe; J.Smith = J.|Smith
	MARY ANN JONES = MARY ANN|JONES; McDONALD Ian = Ian|McDONALD; Jane Doe / CEO = Jane|Doe
	Jane Doe née Smith = Jane|Doe; Mr Smith = |Smith; Ó Briain, Dara = Dara|Ó Briain
	mgr inż. Jan Kowalski = Jan|Kowalski; dr hab. Ewa Nowak = Ewa|Nowak; Prof. dr hab. n. med. Piotr Duda = Piotr|Duda
	Mgr. et Mgr. Eva Biela = Eva|Biela; ΠΑΠΑΔΟΠΟΥΛΟΣ Γιώργος = Γιώργος|ΠΑΠΑΔΟΠΟΥΛΟΣ
	Иван Петрович Сидоров = Иван|Сидоров; ИВАНОВ Иван = Иван|ИВАНОВ; Ólafur|Ragnar; Josep|Puig i Cadafalch
	Núria|Gal·la; Mohamed|Abd el Rahman; VVS|Laxman; KVR|Reddy; A. P. J.|Abdul Kalam; Shaik|Md
	CA Rohit Shah = Rohit|Shah; प्रिया|शर्मा; MS|Dhoni; PVN|Rao; Mst. Fatema|Begum; রহমান|আলী; Moh. Yusuf|Ansari
	Muthu|a/l Raman; Sri|Mulyani; Chan|Hon; Jian|Sen; 王 小明 = 小明|王; WANG Xiaoming = Xiaoming|WANG; Yuki|Ono
	山田 太郎 = 太郎|山田; Jun|Ito; 김 민준 = 민준|김; PARK Ji-sung = Ji-sung|PARK; Nguyễn Văn An = Văn An|Nguyễn
	Trần Thị Ánh = Thị Ánh|Trần; Minh|Lê; Thuy|Do; NGUYEN Van An = Van An|NGUYEN; Ama|Ata; Oliver|St. John
	Montserrat|Puig i Ferrer; Joost|v.d. Linden; Luc|Van Den Bossche; Hubert|de la Tour d'Auvergne
	Abd El-Rahman|Farouk; Nour El Houda|Benali; Álvaro|de la Rosa Fuentes; Beatriz|Almeida e Costa
	María de los Ángeles|Prieto; María de Jesús|Salas; RAJ|Kumar; SAM|Whitaker; Rt Hon. Edmund Carew MP = Edmund|Carew
	The Hon. Patrice Lyle = Patrice|Lyle; Tan Sri Lim Kok Wing = Kok Wing|Lim; Datuk Seri Azmi Rahman = Azmi|Rahman
	Sra. Da. Lucía Peña = Lucía|Peña; Prof. Dr.-Ing. habil. Uwe Kranz = Uwe|Kranz; Op. Dr. Selin Aydın = Selin|Aydın
	DI (FH) Markus Gruber = Markus|Gruber; Prof. Gareth Llewellyn FRS = Gareth|Llewellyn; KIM Min-jun = Min-jun|KIM
	William 'Bill' Trask Jr. = William|Trask; Kyle Brandt ✅ Hiring = Kyle|Brandt; Kim Deal [Open to work] = Kim|Deal
	Jean Valjean / Acme = Jean|Valjean; Kim Deal. = Kim|Deal; Puan Sri Siti Aminah = Siti|Aminah
	Ortega y Gasset, José = José|Ortega y Gasset; Ferreira Lopes, Tiago = Tiago|Ferreira Lopes
	Berg, Jan van den = Jan|van den Berg; Deal Jr., Kim = Kim|Deal; Jennifer|Null; Marc|Head
	Anna|Hidden; Tom|Locked; N. A.|Palkhivala; K.A.|Abbas
	Dana White - LinkedIn = Dana|White; Sandra Bell <sandra@acme.com> = Sandra|Bell
	Bell, Sandra <sandra@acme.com> = Sandra|Bell; Ed Norris // CTO = Ed|Norris; Joe Marsh: Recruiter = Joe|Marsh
	Greg_Palmer = Greg|Palmer; ⭐️Nina Ross⭐️ = Nina|Ross; 𝗔𝗱𝗮 𝗢𝗸𝗮𝗳𝗼𝗿 = Ada|Okafor; 1. Ada Okafor = Ada|Okafor
	Ada Okafor 3rd = Ada|Okafor; Ada Okafor née Smith = Ada|Okafor; Ada Okafor nee Smith = Ada|Okafor
	Ada Okafor • 2nd = Ada|Okafor; Ada Okafor he/him = Ada|Okafor; Ada Okafor they/them = Ada|Okafor
	Lieke Visser - de Boer = Lieke|Visser-de Boer; Van Damme Luc = Luc|Van Damme; De Smet Koen = Koen|De Smet
	SILVA, MARIA DA = MARIA|DA SILVA; Els|de Boer; 王小明 = 小明|王; 김민준 = 민준|김; Kim Min-jun = Min-jun|Kim; Omar|Al-sayed
	Ahmed|El-amri; 山田太郎 = 太郎|山田; Иванов Иван Иванович = Иван|Иванов; Smirnova Olga Viktorovna = Olga|Smirnova
	Linh|Nguyen; Lê|Nguyễn; García López Ana = Ana|García López; Diego Fernando|Castro Ríos; Eduardo|Costa e Silva
	Keira|Murphy; Ana|Silva Júnior; Rui|Costa Sobrinho; Jan Kowalski, CEO = Jan|Kowalski; Madonna = Madonna|
	Smith, MD = |Smith; Smith, R.N. = |Smith; Mr. John Henry Adams = John Henry|Adams; C.P. Jorge Vega = Jorge|Vega
	H.E. Omar Nasser = Omar|Nasser; Amina|bint Khalid Al Saud; Virtanen Mikko, KTM = Mikko|Virtanen; Zdenko|Novák
	Arsen|Petrosyan; Vasudev|Rao; Hans Peter Kok = Hans Peter|Kok; LARS ERIK BERG = LARS ERIK|BERG
	JOHN DVM SMITH = JOHN DVM|SMITH; Ben Whishaw, Actor = Ben|Whishaw; Al Bruni, Actor = Al|Bruni
	Mac Reed, Actor = Mac|Reed; Wei Ling NG = Wei Ling|NG; Ada Okafor she/her = Ada|Okafor
	Ada Okafor geb. Sutter = Ada|Okafor; Достоевская Анна = Анна|Достоевская; Matveev Ada = Ada|Matveev
	MORA LORCA, Ana = Ana|MORA LORCA; Vanden Berghe Els = Els|Vanden Berghe; Vander Elst Els = Els|Vander Elst
	Jansen Mark|Petersen; Сидорук Иван Иванович = Иван|Сидорук; DI STEFANO Carla = Carla|DI STEFANO
	Datin Seri Ada Okafor = Ada|Okafor; Dato Sri Ada Okafor = Ada|Okafor; Dato' Sri Ada Okafor = Ada|Okafor
	Prof.Dr.Uwe Beck = Uwe|Beck; Dr.Max Huber = Max|Huber; J.R.Smith = J.R.|Smith
	Mary Ann Smith, 3rd = Mary Ann|Smith; d'Arc, Jeanne = Jeanne|d'Arc; 't Hooft, Gerard = Gerard|'t Hooft
	欧阳娜娜 = 娜娜|欧阳; 佐藤さくら = さくら|佐藤; 高橋 健太 様 = 健太|高橋; محمد|بن سلمان آل سعود; Tan Wei Ming = Wei Ming|Tan
	María del Carmen|Iglesias Soto; ADA M. OKAFOR, DDS = ADA|OKAFOR; Ada Okafor at Acme = Ada|Okafor; Okafor— CEO = Okafor|
	Ada Okafor -- CEO = Ada|Okafor; Ada Okafor aka Ade = Ada|Okafor; Tan Sri Dato' Seri Ada Okafor = Ada|Okafor
	د/ فاطمة الزهراني = فاطمة|الزهراني; Ronen|Bar Lev; Juan Ortega = Juan|Ortega
`;

/** Parts of names, each in the place of the three dots. */
const PARTS: Record<string, string> = {
	'… Ada Okafor = Ada|Okafor': String.raw`
		Lt Col Gen Sgt Major Judge Sister Dame Barrister Colonel Ambassador Alhaja Sheikha Engº Profª د. م. أ.د. श्री डॉ.
		นาย นางสาว คุณ Ts.
		Mr Mrs Ms Miss Mx Mlle Mme Monsieur Madame Maître Sir Lord Lady The Rt DDr Dr Prof Professor Doktor Doctor Herr
		Herrn Frau Familie Rev Capt Chief Dott Sra Srta Señor Señora Signor Signora Dipl MMag KommR StB Mw Dhr Mevr Mgr
		JUDr MUDr MVDr PhDr RNDr hab inż Pani et Shri Smt Adv Engr Atty Rabbi Alhaji Sheikh Datuk Datin Dato Dato' Encik
		Puan Khun Hofrat Sayın Dª г-н г-жа д-р Mme. Pr. MMag. Dr.-Ing. Dipl.-Kfm. Mag.a Dr.in Dr. Dipl.-Ing. Prof.Dr.
		Dhr. Mevr. Mw. drs. ir. Dra. Arq. Mtra. Lic. Ing. Sr. Dña. Srta. Eng. Prof.ª Avv. Arch. Geom. Rag. Dott.ssa
		Sig.ra Prof.ssa Rev. Capt. inż. lek. Mgr. JUDr. MUDr. Bc. Av. Δρ. Smt. Er. Adv. Ir. Drs. Hj. Atty. Engr. Eng.º
		Dr.ª Barr. Ms. Hr. Lt. Pt. Me. Ao. Op. Da. CA. M. Pan CA RA RAin DI PD WP`,
	'…. Ada|Okafor': `
		Abd Alex Ant Aug Benj Chas Chr Edw Fco Friedr Geo Gpe Heinr Jas Joh Jos Mhd Moh Mohd Mst Muh Muhd Robt Saml Ste
		Thos Wilh Md Wm St Ma Yu Zs Sk`,
	'Ada Okafor … = Ada|Okafor': `
		Jr Jr. Jnr Sr II III IV Esq Esq. MBA eMBA PhD Ph.D. DDS LLM LL.M. LLB CPA CFA PMP hanım Bey jun. ml. Jun. Sen.
		Ret. Hon. Ing. MD M.D. MA BA PE RN MBE OBE CBE DBE PharmD EdD DrPH MSc B.Sc. PEng P.Eng. DiS. DVM FRS KTM B.A.
		M.T. LL.B Phd bsc KBE FRICS MCIPD ACCA FCCA CIMA CGMA CISSP CEO CTO SHRM-CP PMI-ACP`,
	'Ada|… Okafor': String.raw`
		Van Vom Von Vam Zu Zum Zur De De' De’ Der Den Del Des Della Delle Dello Degli Da Di Do Du Dal Dalla Das Dos La
		Le Lo Las Les Los El Al Bin Bint Binti Ibn Ben Bar Abu Abo Abou Abd Abdel Abdul Ould Ait Aït Te Ter Ten Op San
		Santa São Saint St Ste St. Mac Mc 't ’t ‘t ʼt ´t O D' L' O’ Ó Ní Nic Uí Ap a/l a/p s/o d/o Delos Dela Vander
		Vanden Freiherr Freifrau Graf Gräfin Baron af wa vd v.d. بن ابن بنت آل أبو عبد בן בר בת García Garcia Ruiz Ortiz
		Silva Santos Sousa Souza Muñoz Díaz Diaz Sánchez Sanchez Ferreira Larsson Jansen Ortega Castro Vargas Rojas
		Morales Torres Herrera Moreno Molina Navarro Delgado Guerrero Mendoza Ramos Restrepo Mejía Mejia Acosta Aguilar
		Cabrera`,
	'Ada da …|Okafor': `
		Conceição Graça Graca Carmo Carmen Glória Gloria Luz Fátima Fatima Céu Ceu Rosário Rosario Lourdes Paz Penha
		Dores Dolores Anjos Ángel Ángeles Neves Assunção Piedade Saúde Saude Pilar Mar Rocío Rocio Jesús Jesus Dios`,
	'… Ada = Ada|…': `
		Sánchez Kowalski Zielińska Nowicka Nováková Virtanen Petrović Popescu Shevchenko Шевченко Ivanov Ivanova Иванов
		Иванова Достоевский Nguyễn Nguyen Trần Tran Phạm Pham Lê Huỳnh Huynh Phan Võ Đặng Bùi Đỗ Ngô Nagy
		Kovács Tóth Szabó Horváth Varga Molnár Németh Farkas Zhang Wang Huang Zhao Zhou Xu Guo Luo Мельник Шевчук`,
	'Ada … Okafor = Ada|Okafor':
		'Ivanovich Andreevich Petrovna Иванович Сергеевич Ильич Сергеевна Петровна Ильинична',
	'Ada|Okafor …': 'Filho Neto Sobrinho Júnior Junior',
	'Ada|Okafor … Lopes': 'y e i',
};

const ENTRIES = [
	...TEXT.trim().split(/;\s+|\n\s*/),
	...Object.entries(PARTS).flatMap(([name, parts]) =>
		parts
			.trim()
			.split(/\s+/)
			.map((part) => name.replaceAll('…', part)),
	),
];

/** A text that a person enters, and the two names that are sent for it. */
export const PEOPLE = ENTRIES.map((entry) => {
	const [given = '', names = given] = entry.split(' = ');
	const [firstName = '', lastName = ''] = names.split('|');
	return { given: given.replace('|', ' ').trim(), firstName, lastName };
});
