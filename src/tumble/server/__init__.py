"""The page and the HTTP door of a study: `tumble serve`.

========== ================================================================================================
`desk`      a study and the one thread that works on it
`bodies`    what a request may say
`doors`     ask, tell, skip, void, amend and try, with the same functions as the command line
`reading`   status, best, trials, the study and the numbers of its figures
`watching`  the stream of changes
`guard`     who may come in: host, origin, token, size
`answers`   JSON, and errors with the words of the command line
`app`       all of it together, as a FastAPI application
`serving`   the socket, the QR code, and the end
========== ================================================================================================
"""
