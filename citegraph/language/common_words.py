"""Words of questions (English, German, French) that name nothing by themselves."""

from citegraph.language.names import words

COMMON = words(
    """
    a about above according across add after again against all almost along already also although
    always am among an and another any anybody anyone anything are around as ask at average away
    back be because been before began begin behind being below between both but by call called can
    cannot cheap cheapest check clear come compare compared contain containing contains cost could
    count cover current date dated day days did differ difference different do document documents
    does doing done down due during each earlier earliest early either else end ended ends enough
    ever every everything example exactly except expire expired expires explain expensive far few
    file files find first following for found from full get gets give given gives go going good got
    great greater had happen happened has have having he hello help her here hi high higher highest
    him his hold how however i if in include included including information inside instead into
    involved is issue issued it its itself just keep kind know known large larger largest last late
    later latest latter least leave left less let like line list listed little long longer longest
    look lot low lower lowest made main make makes many match matching may me mean means mention
    mentioned mentions might mine minimum maximum money month months more most much must my name
    named names near need needed needs never new newer newest next no nobody none nor not note
    nothing now number numbers of off often old older oldest on once one ones only open or order
    other others our out over overall overview own page pages part particular paid pay per please
    print provide pull put question quick quite rather read ready real receive received recent
    record recorded regarding related relevant rest result right run said same say says search
    second see seen send sent several shall she short should show shows side sign signed since
    single small smaller smallest so some somebody something soon still store such sum summarise
    summarize summary take taken tell than thank thanks that the their them then there these they
    thing things third this those though three through time times to today together told too took
    top toward total try two type under until up upon us use used using value values version very
    via view want wanted was way we week weeks well went were what whatever when where whether which
    while who whole whom whose why will with within without word words work would write written year
    years yes yesterday yet you your january february march april june july august september october
    november december januar februar märz mai juni juli oktober dezember janvier février mars avril
    juin juillet août septembre octobre novembre décembre spring summer autumn winter held effect
    stored applies apply state states law laws governed term sold bought buy worth spent spend
    spending wrong bad big bigger biggest set sets sort available missing der die das den dem des
    ein eine einen einem einer eines und oder aber nicht kein keine keinen auf aus bei bis durch für
    gegen im mit nach ohne seit über um unter von vom vor zu zum zur zwischen ist sind war waren
    wird werden wurde wurden hat haben hatte kann können muss müssen soll sollen darf wer wie wo
    wann warum welche welcher welches welchen welchem alle alles als auch dann dass da dort du er es
    euch gibt hier ich ihm ihn ihr ihre ihren ja jede jeder jedes jetzt laut man mehr mein mir nein
    noch nur ob sehr sein seine sich sie viel viele vielen wenn wir wieder wohl zeige zeig liste
    finde suche nenne hoch höher höchste höchsten lang länger kleiner größer bitte danke fasse
    zusammen kurz gesamt insgesamt summe anzahl jahr jahre monat datum nummer le la les un une de et
    ou mais ne pas en au aux ce cet cette ces dans par pour sur avec sans sous est sont était sera
    ont avait qui que quoi quel quelle quels quelles quand comment combien où pourquoi je tu il elle
    nous vous ils elles mon ma mes son sa ses notre votre leur leurs plus moins très tout toute tous
    toutes donne montre trouve nombre numéro montant année mois
    """
)
"""Question and function words, month names, and general words of asking, listing and measuring."""
